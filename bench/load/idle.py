"""`proxid bench load -o part=idle`: what third parties cost that wait for what is not there.

Five third parties keep `streams` (500) feeds open at a gateway, and nobody asks anything. Each party is looked for ten
times a second while it has any, however many:

    idle_ratio                  processor time of the gateway and its store in `seconds` (60): all, over one a party
    idle_ms_per_stream_minute   what is more, a stream and minute
    idle_share                  of a core, with one a party
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import grpc

from bench import Figure
from bench.load.house import processes
from bench.load.remains import open_store
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.clients.subscriber.config import PartyConfig
from proxid.runtime.config import load
from proxid.runtime.transport.channel import TlsFiles, open_channel
from proxid.wire.v1.gateway_pb2 import AcknowledgeRequest, SubscribeRequest
from proxid.wire.v1.gateway_pb2_grpc import FeedStub

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_SETTLE: Final = 5.0


class _WideTrial(DemoTrial):
    """With more parties: each may have 128 streams."""

    parties = ("acme", "globex", "initech", "hooli", "umbrella")


def run(seconds: int, streams: int) -> dict[str, Figure]:
    """Measure."""
    import uvloop

    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        trial = _WideTrial(Path(folder), DemoOptions(people=10, k=3, form="pairs"))
        trial.provision()
        try:
            trial.start_services()
            few, many = uvloop.run(_measured(trial, seconds, streams))
        finally:
            trial.stop()
    more = max(0.0, many - few) / streams * 60 / seconds
    return {
        "idle_ratio": {"value": round(many / few, 3), "unit": "ratio", "baseline": "one a party"},
        "idle_ms_per_stream_minute": {"value": round(1e3 * more, 3), "unit": "ms", "baseline": f"{streams} streams"},
        "idle_share": {
            "value": round(few / seconds, 4),
            "unit": "of a core",
            "baseline": f"{many / seconds:.2%} with all",
        },
    }


async def _measured(trial: DemoTrial, seconds: int, streams: int) -> tuple[float, float]:
    store = open_store(trial)
    server = int((await store.info("server"))["process_id"])
    await store.aclose()
    pids = [*processes(trial.children["gateway"].pid), server]
    spent = []
    for number in (len(trial.parties), streams):
        async with _streams(trial, number):
            spent.append(await _spent(pids, seconds))
    return spent[0], spent[1]


@asynccontextmanager
async def _streams(trial: DemoTrial, number: int) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        calls: list[Any] = []
        stubs = []
        for at, party in enumerate(trial.parties):
            config = load(PartyConfig, trial.party_path(party))
            tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
            channel = await stack.enter_async_context(open_channel(config.gateway, tls, config.gateway_name))
            stubs.append(FeedStub(channel))
            own = range(at, number, len(trial.parties))
            calls += [stubs[-1].Subscribe(SubscribeRequest(follow=True)) for _ in own]
        await asyncio.sleep(0)
        for stub in stubs:
            # Behind the streams on the same connection: when it is refused, all of them have come.
            with suppress(grpc.aio.AioRpcError):
                await stub.Acknowledge(AcknowledgeRequest())
        yield
        assert not any(call.done() for call in calls), "a stream ended"
        for call in calls:
            call.cancel()


async def _spent(pids: list[int], seconds: int) -> float:
    """Processor seconds that processes take in so many seconds, once they have settled."""
    await asyncio.sleep(_SETTLE)
    before = sum(map(_processor, pids))
    await asyncio.sleep(seconds)
    return sum(map(_processor, pids)) - before


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
