"""Load on the request path alone (bench/gateway.py): requests made before, answers verified after."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, Final

from device_sim.corpus import shipped_events
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.household import Household
from proxid.crypto.sansig import Role, SignedMessage
from proxid.errors import UpstreamError
from proxid.protocol import request, response
from proxid.protocol.request import Utterance
from proxid.runtime.transport.channel import TlsFiles, open_channel
from proxid.runtime.transport.convert import from_wire, to_wire
from proxid.wire.v1 import gateway_pb2 as wire

_CONVERSE: Final = "/proxid.wire.v1.Gateway/Converse"


@dataclass(frozen=True, slots=True, repr=False)
class Prepared:
    """A request ready to be sent, and what its answer will be checked with."""

    message: wire.AskRequest
    signed: SignedMessage
    user_id: str
    response_key: bytes

    @property
    def size(self) -> int:
        """Bytes on the wire."""
        return self.message.ByteSize()


@dataclass(frozen=True, slots=True)
class Round:
    """One round of load: rate, latencies in milliseconds, refused or failed calls, bytes of an answer."""

    per_second: float
    p50_ms: float
    p99_ms: float
    failed: int
    answer_size: int


async def prepare(speakers: Mapping[str, Household], count: int) -> list[Prepared]:
    """Seal and sign requests of all speakers in turn."""
    sessions = [await household.session(user) for user, household in speakers.items()]
    texts = [event.text for event in shipped_events()]
    prepared = []
    for session, text in islice(zip(cycle(sessions), cycle(texts)), count):
        now_ms = int(time.time() * 1000)
        utterance = Utterance.new(text, now_ms)
        signed = request.make(utterance, session.user.user_id, session.key, session.route, now_ms)
        message = wire.AskRequest(message=to_wire(signed))
        prepared.append(Prepared(message, signed, session.user.user_id, utterance.response_key))
    return prepared


async def drive(
    config: DeviceConfig,
    prepared: Sequence[Prepared],
    concurrency: int,
    ended: Callable[[], Awaitable[None]] | None = None,
) -> Round:
    """Send everything, `concurrency` at once on as many streams of one channel; every answer is verified afterwards.

    Messages are made bytes before, and read after, as in the echo that this is compared with.

    Args:
        ended: called when the last answer has come, before they are verified.

    Raises:
        AioRpcError: a stream broke.
    """
    tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
    channel = open_channel(config.gateway, tls, config.gateway_name, config.trust.certificates("gateway"))
    converse: Any = channel.stream_stream(_CONVERSE)
    found: list[tuple[Prepared, bytes, float]] = []
    waiting = iter([(one, one.message.SerializeToString()) for one in prepared])

    async def worker() -> None:
        stream = converse()
        for one, data in waiting:
            begun = time.perf_counter()
            await stream.write(data)
            found.append((one, await stream.read(), time.perf_counter() - begun))
        await stream.done_writing()

    begun = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    took = time.perf_counter() - begun
    if ended is not None:
        await ended()
    await channel.close()
    answers, latencies = list[tuple[Prepared, wire.AskOutcome]](), list[float]()
    for one, data, seconds in found:
        outcome = wire.AskOutcome.FromString(data)
        if outcome.HasField("message"):
            answers.append((one, outcome))
            latencies.append(seconds)
    if not answers:
        raise UpstreamError("no request of the round was answered")
    for one, reply in answers:
        _verify(config, one, reply)
    latencies.sort()
    return Round(
        per_second=len(answers) / took, p50_ms=1e3 * latencies[len(latencies) // 2],
        p99_ms=1e3 * latencies[int(0.99 * len(latencies))], failed=len(prepared) - len(answers),
        answer_size=answers[0][1].ByteSize(),
    )  # fmt: skip


def _verify(config: DeviceConfig, one: Prepared, reply: wire.AskOutcome) -> None:
    header, trust = one.signed.header, config.trust
    assert trust.service is not None
    answer = from_wire(reply.message)
    expected = response.expectation(header.service, header.epoch, trust.service, header.sanitizer)
    response.verify_response(answer, expected, Role.SANITIZER, one.user_id, one.signed.session_id)
    response.open_answer(answer, one.response_key)
