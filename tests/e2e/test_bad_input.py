"""Lies in every field): a typed error that names the rule and not the data, and the services go on."""

import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import grpc
import pytest

from auditor.conduct import AuditCommand, run_audit
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.clients.household.household import Household, Session
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.sansig import Header, Message, SignedMessage, sign
from proxid.encoding import encode_text
from proxid.errors import Code, InputError, OversizedError
from proxid.protocol import request
from proxid.protocol.request import Utterance
from proxid.runtime.transport.channel import TlsFiles, open_channel
from proxid.runtime.transport.convert import to_wire
from proxid.runtime.transport.status import code_of
from proxid.wire.v1 import common_pb2, gateway_pb2
from proxid.wire.v1.gateway_pb2_grpc import GatewayStub

PLANTED = "zanzibarquetzal"
USER, OTHER = 0, 1


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoTrial]:
    found = DemoTrial(tmp_path_factory.mktemp("trial"), DemoOptions(people=5, form="pairs"))
    found.provision()
    found.start()
    yield found
    found.stop()


@dataclass
class Scene:
    """A household, two of its users, and a raw channel to the gateway."""

    household: Household
    sessions: list[Session]
    channel: grpc.aio.Channel
    stub: Any
    stream: Any

    def signed(self, text: str = f"play {PLANTED}", now: float | None = None) -> SignedMessage:
        """A good request."""
        session, now_ms = self.sessions[USER], int((now or time.time()) * 1000)
        return request.make(Utterance.new(text, now_ms), session.user.user_id, session.key, session.route, now_ms)

    async def send(self, message: common_pb2.SignedMessage) -> Code | None:
        """The code that a message is refused with, None if it is answered; an error's text holds nothing planted.

        A call of its own and a message on a stream are refused alike.
        """
        code = None
        try:
            await self.stub.Ask(gateway_pb2.AskRequest(message=message), timeout=20)
        except grpc.aio.AioRpcError as error:
            assert PLANTED not in str(error)
            assert self.sessions[USER].user.user_id not in (error.details() or "").split()
            code = code_of(error)
        refused = (await self.said(message)).refused
        assert PLANTED not in refused.message
        assert self.sessions[USER].user.user_id not in refused.message.split()
        assert refused.code == ("" if code is None else code.value)
        return code

    async def said(self, message: common_pb2.SignedMessage) -> gateway_pb2.AskOutcome:
        """What the gateway answers on the scene's one stream, which no refusal ends."""
        await self.stream.write(gateway_pb2.AskRequest(message=message))
        found = await self.stream.read()
        assert isinstance(found, gateway_pb2.AskOutcome)
        return found


@pytest.fixture
async def scene(trial: DemoTrial) -> AsyncIterator[Scene]:
    config = trial.devices()[0]
    household = Household.open(config)
    sessions = [await household.session(user) for user in household.users[:2]]
    tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
    async with open_channel(config.gateway, tls, config.gateway_name) as channel:
        stub: Any = GatewayStub(channel)
        yield Scene(household, sessions, channel, stub, stub.Converse(timeout=60))
    await household.close()


def resigned(signed: SignedMessage, key: SigningKey, header: Header, blocks: tuple[bytes, ...]) -> SignedMessage:
    return sign(Message(header, blocks), key)


def with_header(**changes: Any) -> Callable[[Scene], common_pb2.SignedMessage]:
    """A request whose signed header says something else."""

    def make(scene: Scene) -> common_pb2.SignedMessage:
        good = scene.signed()
        return to_wire(resigned(good, scene.sessions[USER].key, replace(good.header, **changes), good.message.blocks))

    return make


def with_block(index: int, block: bytes) -> Callable[[Scene], common_pb2.SignedMessage]:
    """A request with another block, well signed."""

    def make(scene: Scene) -> common_pb2.SignedMessage:
        good = scene.signed()
        blocks = tuple(block if i == index else b for i, b in enumerate(good.message.blocks))
        return to_wire(resigned(good, scene.sessions[USER].key, good.header, blocks))

    return make


def raw(change: Callable[[common_pb2.SignedMessage], None]) -> Callable[[Scene], common_pb2.SignedMessage]:
    """A request whose wire form is tampered with."""

    def make(scene: Scene) -> common_pb2.SignedMessage:
        message = to_wire(scene.signed())
        change(message)
        return message

    return make


def _set(field: str, value: Callable[[bytes], bytes]) -> Callable[[common_pb2.SignedMessage], None]:
    def change(message: common_pb2.SignedMessage) -> None:
        setattr(message, field, value(getattr(message, field)))

    return change


def _blocks(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[common_pb2.SignedMessage], None]:
    def apply(message: common_pb2.SignedMessage) -> None:
        blocks = change(list(message.blocks))
        del message.blocks[:]
        message.blocks.extend(blocks)

    return apply


def stranger(scene: Scene) -> common_pb2.SignedMessage:
    """A request under a key that nobody linked."""
    good, key = scene.signed(), SigningKey.generate()
    return to_wire(resigned(good, key, replace(good.header, signer=key.public), good.message.blocks))


def old(seconds: float) -> Callable[[Scene], common_pb2.SignedMessage]:
    return lambda scene: to_wire(scene.signed(now=time.time() + seconds))


def own_prox(scene: Scene) -> common_pb2.SignedMessage:
    return with_block(request.USER, scene.sessions[USER].prox_id.encode())(scene)


def another_user(scene: Scene) -> common_pb2.SignedMessage:
    return with_block(request.USER, encode_text(scene.sessions[OTHER].user.user_id))(scene)


LIES: list[tuple[str, Callable[[Scene], common_pb2.SignedMessage], Code]] = [
    ("empty message", lambda scene: common_pb2.SignedMessage(), Code.ENCODING_INVALID),
    ("garbage header", raw(_set("header", lambda h: os.urandom(len(h)))), Code.ENCODING_INVALID),
    ("truncated header", raw(_set("header", lambda h: h[:-1])), Code.ENCODING_INVALID),
    ("trailing header", raw(_set("header", lambda h: h + b"\0")), Code.ENCODING_INVALID),
    ("short signature", raw(_set("signature", lambda s: s[:-1])), Code.MESSAGE_INVALID),
    ("flipped signature", raw(_set("signature", lambda s: bytes([s[0] ^ 1]) + s[1:])), Code.SIGNATURE_INVALID),
    ("no blocks", raw(_blocks(lambda b: [])), Code.MESSAGE_INVALID),
    ("block dropped", raw(_blocks(lambda b: b[:-1])), Code.MESSAGE_INVALID),
    ("block added", raw(_blocks(lambda b: [*b, b"x"])), Code.MESSAGE_INVALID),
    ("blocks swapped", raw(_blocks(lambda b: [b[0], b[2], b[1], b[3]])), Code.MESSAGE_INVALID),
    ("a thousand blocks", raw(_blocks(lambda b: [b"x"] * 1000)), Code.MESSAGE_INVALID),
    ("sealed body of 60 kB", with_block(request.SEALED, bytes(60_000)), Code.MESSAGE_INVALID),
    ("sealed body empty", with_block(request.SEALED, b""), Code.MESSAGE_INVALID),
    ("commit of another size", with_block(request.COMMIT, b"x"), Code.MESSAGE_INVALID),
    ("unknown purpose", with_block(request.PURPOSE, b"sell"), Code.MESSAGE_INVALID),
    ("user block empty", with_block(request.USER, b""), Code.MESSAGE_INVALID),
    ("user block of 1 kB", with_block(request.USER, PLANTED.encode() * 64), Code.MESSAGE_INVALID),
    ("own PROX_ID as user", own_prox, Code.MESSAGE_INVALID),
    ("another user", another_user, Code.MESSAGE_INVALID),
    ("unregistered key", stranger, Code.NOT_REGISTERED),
    ("epoch over", with_header(epoch=1), Code.EPOCH_NOT_CURRENT),
    ("epoch to come", with_header(epoch=10**9), Code.EPOCH_NOT_CURRENT),
    ("clock behind", old(-125), Code.NOT_FRESH),
    ("clock ahead", old(125), Code.NOT_FRESH),
    ("another service", with_header(service="other-service"), Code.HEADER_MISMATCH),
    ("another sanitizer", with_header(sanitizer=SigningKey.generate().public), Code.HEADER_MISMATCH),
    ("unsealable body", with_block(request.SEALED, bytes(1648)), Code.EPOCH_KEY_STALE),
    ("commit of another text", with_block(request.COMMIT, bytes(32)), Code.UPSTREAM_REFUSED),
]


@pytest.mark.parametrize(("lie", "expected"), [case[1:] for case in LIES], ids=[case[0] for case in LIES])
async def test_a_lie_is_refused_by_its_rule_and_the_connection_lives(
    scene: Scene, lie: Callable[[Scene], common_pb2.SignedMessage], expected: Code
) -> None:
    assert await scene.send(lie(scene)) is expected
    assert await scene.send(to_wire(scene.signed())) is None


async def test_a_message_larger_than_the_limit_is_refused_by_the_transport(scene: Scene) -> None:
    message = to_wire(scene.signed())
    message.blocks[request.SEALED] = bytes(1 << 20)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await scene.stub.Ask(gateway_pb2.AskRequest(message=message), timeout=20)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert await scene.send(to_wire(scene.signed())) is None


@pytest.mark.parametrize("call", ["GetParameters", "Link", "Consent", "Ask", "Right"])
async def test_bytes_that_are_no_message_are_refused_by_their_rule(scene: Scene, call: str) -> None:
    method: Any = scene.channel.unary_unary(f"/proxid.wire.v1.Gateway/{call}")  # no serialiser: bytes as they are
    for data in (b"\xff\xff\xff", PLANTED.encode(), os.urandom(2000) + b"\x0f"):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await method(data, timeout=20)
        assert code_of(caught.value) is Code.ENCODING_INVALID
        assert "message is not of its type" in (caught.value.details() or "") and PLANTED not in str(caught.value)
    assert await scene.send(to_wire(scene.signed())) is None


async def test_one_nonce_serves_one_message(scene: Scene) -> None:
    first, second = scene.signed(), scene.signed("another text")
    assert await scene.send(to_wire(first)) is None
    assert await scene.send(to_wire(first)) is None  # a retry gets the stored answer
    header = replace(second.header, nonce=first.header.nonce)
    reused = resigned(second, scene.sessions[USER].key, header, second.message.blocks)
    assert await scene.send(to_wire(reused)) is Code.REPLAYED


async def test_unknown_fields_change_nothing(scene: Scene) -> None:
    data = gateway_pb2.AskRequest(message=to_wire(scene.signed())).SerializeToString() + b"\xfa\x3f\x03abc"
    reply = await scene.stub.Ask(gateway_pb2.AskRequest.FromString(data), timeout=20)
    assert reply.message.signature


@pytest.mark.parametrize(
    "text",
    ["שלום מה מזג האוויר", "🕺🏽" * 50, "\u202eevil\u202c", "a" * 14_000],
    ids=["hebrew", "emoji", "bidi override", "long"],
)
async def test_any_text_that_fits_is_answered(scene: Scene, text: str) -> None:
    user = scene.household.users[USER]
    assert (await scene.household.ask(user, text)).text


@pytest.mark.parametrize(
    "text", ["", " ", "\n" * 500, "\x00\x07\x1b[31m", "\ud800"], ids=["empty", "blank", "newlines", "control", "half"]
)
async def test_a_text_that_nobody_says_never_leaves_the_device(scene: Scene, text: str) -> None:
    with pytest.raises(InputError):
        await scene.household.ask(scene.household.users[USER], text)


async def test_a_text_of_one_megabyte_never_leaves_the_device(scene: Scene) -> None:
    with pytest.raises(OversizedError):
        await scene.household.ask(scene.household.users[USER], "a" * (1 << 20))


@pytest.mark.parametrize("data", [b"", b"garbage", os.urandom(3000)], ids=["empty", "short", "long"])
async def test_garbage_links_and_consents_are_refused(scene: Scene, data: bytes) -> None:
    for call, message in [
        (scene.stub.Link, gateway_pb2.LinkRequest(enrolment=data, link=data)),
        (scene.stub.Consent, gateway_pb2.ConsentRequest(vector=data, message=to_wire(scene.signed()))),
    ]:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(message, timeout=20)
        assert code_of(caught.value) is Code.ENCODING_INVALID


def test_afterwards_the_audit_is_clean_and_no_log_holds_what_was_said(trial: DemoTrial) -> None:
    assert trial.witness().finish(60) == 0
    report = run_audit(AuditCommand(trial.auditor(), keep=False))
    assert report.violations == []
    for path in trial.logs.iterdir():
        text = path.read_text("utf-8", "replace")
        assert PLANTED not in text
        for line in text.splitlines():
            if line.startswith("{"):
                json.loads(line)
