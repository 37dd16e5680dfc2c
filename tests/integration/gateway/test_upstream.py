"""What IS makes of MS's answers on a stream, over real gRPC to a service that answers as it is told."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from gateway.upstream import MainServiceClient
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.sansig import Direction, Header, Limit, Message, SignedMessage, sign
from proxid.crypto.sansig.message import NONCE_SIZE
from proxid.errors import Code, UpstreamError, UpstreamRefusedError
from proxid.protocol import request
from proxid.runtime.transport.convert import to_wire
from proxid.runtime.transport.status import CODE_KEY
from proxid.wire.v1 import main_service_pb2 as wire
from proxid.wire.v1.main_service_pb2_grpc import MainServiceServicer, add_MainServiceServicer_to_server

KEY, SCREENER = SigningKey(bytes(32)), SigningKey(bytes([1]) * 32)
Answer = Callable[[wire.ForwardRequest], wire.ForwardOutcome]


def signed_request(number: int) -> SignedMessage:
    """A request of its own nonce; what is in it is nobody's business here."""
    header = Header(
        direction=Direction.REQUEST, service="main-service", epoch=1, signer=KEY.public, sanitizer=SCREENER.public,
        nonce=number.to_bytes(NONCE_SIZE, "big"), time_ms=1, blocks=request.BLOCKS, limit=Limit.PROX_ID,
    )  # fmt: skip
    return sign(Message(header, (b"prox", b"sealed", bytes(32), request.PURPOSE_ANSWER)), KEY)


class Told(MainServiceServicer):
    """Answers each request by a function, the last of a batch first; keeps the batches."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.batches: list[list[wire.ForwardRequest]] = []
        self.streams = 0
        self.breaks = self.refuses = False
        self.renumber = 0

    async def Forward(self, _requests: object, context: Any) -> None:
        self.streams += 1
        while (batch := await context.read()) is not grpc.aio.EOF:
            self.batches.append(list(batch.requests))
            if self.refuses:
                refusal = ((CODE_KEY, Code.PEER_REFUSED.value),)
                await context.abort(grpc.StatusCode.PERMISSION_DENIED, "not you", refusal)
            if self.breaks:
                return
            for one in reversed(batch.requests):
                outcome = self.answer(one)
                outcome.number = self.renumber or one.number
                await context.write(wire.ForwardOutcomes(outcomes=[outcome]))


def echo(request: wire.ForwardRequest) -> wire.ForwardOutcome:
    return wire.ForwardOutcome(reply=wire.ForwardReply(message=request.message))


@asynccontextmanager
async def told(answer: Answer, seconds: float = 20.0) -> AsyncIterator[tuple[Told, MainServiceClient]]:
    server, servicer = grpc.aio.server(), Told(answer)  # type: ignore[abstract]
    add_MainServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        client = MainServiceClient(channel, seconds)
        yield servicer, client
        await client.close()
    await server.stop(None)


async def test_each_request_gets_its_own_answer() -> None:
    messages = [signed_request(i) for i in range(8)]
    async with told(echo) as (servicer, client):
        answers = await asyncio.gather(*(client.ask(m, b"c") for m in messages))
    assert [to_wire(m) for m in answers] == [to_wire(m) for m in messages]
    assert sum(map(len, servicer.batches)) == 8
    assert len(servicer.batches) < 8


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (Code.CREDENTIAL_INVALID.value, UpstreamRefusedError),
        (Code.STORE_UNAVAILABLE.value, UpstreamError),
        (Code.INTERNAL.value, UpstreamError),
        ("no_such_code", UpstreamError),
        ("", UpstreamError),
    ],
)
async def test_a_refusal_is_final_only_where_the_table_says_so(code: str, error: type[Exception]) -> None:
    async with told(lambda _: wire.ForwardOutcome(refused=code)) as (_, client):
        with pytest.raises(error) as caught:
            await client.ask(signed_request(1), b"c")
    assert type(caught.value) is error


async def test_one_refusal_leaves_the_rest_of_the_batch_answered() -> None:
    bad, good = signed_request(1), signed_request(2)

    def answer(request: wire.ForwardRequest) -> wire.ForwardOutcome:
        if request.message == to_wire(bad):
            return wire.ForwardOutcome(refused=Code.SIGNATURE_INVALID.value)
        return echo(request)

    async with told(answer) as (_, client):
        refused, answered = await asyncio.gather(client.ask(bad, b"c"), client.ask(good, b"c"), return_exceptions=True)
    assert isinstance(refused, UpstreamRefusedError)
    assert not isinstance(answered, BaseException)


async def test_the_credential_is_shown_again_when_it_is_needed() -> None:
    def answer(request: wire.ForwardRequest) -> wire.ForwardOutcome:
        return echo(request) if request.credential == b"c" else wire.ForwardOutcome(refused="credential_needed")

    message = signed_request(1)
    async with told(answer) as (servicer, client):
        for _ in range(2):  # the second time the client believes that MS knows it
            await client.ask(message, b"c")
    assert [[bool(one.credential) for one in batch] for batch in servicer.batches] == [[True], [False], [True]]


@pytest.mark.parametrize("refused", [False, True])
async def test_a_stream_that_breaks_reaches_nobody_and_the_next_request_opens_another(refused: bool) -> None:
    """Whatever it ends with, a refusal of the stream too: MS may have taken the requests that were on it."""
    async with told(echo) as (servicer, client):
        servicer.breaks, servicer.refuses = not refused, refused
        found = await asyncio.gather(*(client.ask(signed_request(i), b"c") for i in range(3)), return_exceptions=True)
        assert {type(one) for one in found} == {UpstreamError}
        servicer.breaks = servicer.refuses = False
        assert to_wire(await client.ask(signed_request(4), b"c")) == to_wire(signed_request(4))
        assert servicer.streams == 2


async def test_an_outcome_of_another_number_is_nobodys() -> None:
    """Neither one that was never asked for nor a second one for the same request disturbs the others."""
    async with told(echo, seconds=1) as (servicer, client):
        await client.ask(signed_request(1), b"c")
        servicer.renumber = 7
        with pytest.raises(UpstreamError):
            await client.ask(signed_request(2), b"c")
        servicer.renumber = 0
        assert to_wire(await client.ask(signed_request(3), b"c")) == to_wire(signed_request(3))
        assert servicer.streams == 1


class Garbled(grpc.GenericRpcHandler):
    """Answers whatever is called with bytes that are no message of any type."""

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        async def one(_request: bytes, _context: Any) -> bytes:
            return b"\xff\xff\xff"

        async def many(_requests: Any, _context: Any) -> AsyncIterator[bytes]:
            yield b"\xff\xff\xff"

        method = str(details.method).rpartition("/")[2]
        if method == "Forward":
            return grpc.stream_stream_rpc_method_handler(many)
        return (
            grpc.unary_stream_rpc_method_handler(many) if method == "Releases"
            else grpc.unary_unary_rpc_method_handler(one)
        )  # fmt: skip


async def _first_release(client: MainServiceClient) -> None:
    async for _group in client.releases(0):
        return


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.time(b"", bytes(16)),
        lambda client: client.ask(signed_request(1), b""),
        lambda client: client.consent(signed_request(1), b""),
        lambda client: client.erase("prox", bytes(32)),
        lambda client: client.restrict("prox", True),
        lambda client: client.acknowledge(1),
        _first_release,
    ],
    ids=["time", "ask", "consent", "erase", "restrict", "acknowledge", "releases"],
)
async def test_what_cannot_be_read_is_as_if_nothing_had_come(call: Callable[[MainServiceClient], Any]) -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Garbled(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            with pytest.raises(UpstreamError):
                await call(MainServiceClient(channel))
    finally:
        await server.stop(None)
