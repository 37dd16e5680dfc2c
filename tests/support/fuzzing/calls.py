"""Every method of every served service, called with whatever bytes; and what its answer must not be."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import DecodeError
from grpc._cython.cygrpc import ExecuteBatchError

from proxid.errors import Code
from proxid.runtime.transport.status import TABLE, code_of

_LEFT_SECONDS: Final = 0.3
"""For which a stream that has nothing more to say is listened to."""
_SECONDS: Final = 30.0
_ENOUGH: Final = 4
"""Replies that are read of a stream."""
_OF_THE_CALLER: Final = ("RST_STREAM with error code 7", "Internal error from Core")
"""gRPC's own words at the caller: a call too many of a connection was not looked at; one was over while it wrote."""
DEVICE: Final = "proxid.wire.v1.Device"

SIGNED: Final = {
    "AskRequest.message", "ForwardRequest.message", "ConsentRequest.vector", "ConsentRequest.message",
    "LinkRequest.enrolment", "LinkRequest.link", "RightRequest.enrolment", "RightRequest.request",
    "AcknowledgeRequest.acknowledgement", "EpochRequest.opening", "TimeRequest.opening", "CosignRequest.checkpoint",
    "Held.message", "JudgeRequest.message", "HeadsRequest.heads", "RestrictRequest.word", "RestrictRequest.credential",
}  # fmt: skip
"""Fields whose value somebody signed: what is accepted in them is what was signed."""
UNSIGNED: Final = {
    "ForwardRequest.credential": "held against the epoch key once, and not looked at again",
    "EpochRequest.policies": "digests: of what is not held, nothing comes",
    "TimeRequest.nonce": "drawn by the caller, for the caller",
    "PolicyRequest.digest": "says what is asked for",
    "EraseRequest.tag": "the main service goes by the one that it was shown",
    "EvidenceKeysRequest.tags": "says what is asked for",
    "Held.session": "its holder's word",
}
"""Other fields of bytes, and why whatever stands in them may be accepted."""
UNHEARD: Final = {"/proxid.wire.v1.Evidence/ShowHeads"}
"""What takes a head that nobody signed for nothing, and says so to nobody."""


@dataclass(frozen=True)
class Method:
    """One method of a service."""

    descriptor: MethodDescriptor

    @property
    def path(self) -> str:
        return f"/{self.descriptor.containing_service.full_name}/{self.descriptor.name}"

    @property
    def request(self) -> Descriptor:
        return self.descriptor.input_type

    def parsed(self, data: bytes) -> Any:
        """Raises DecodeError."""
        return message_factory.GetMessageClass(self.request).FromString(data)


@dataclass
class Outcome:
    """What became of a call: status (None: it was left), code and words of a refusal, replies."""

    status: grpc.StatusCode | None
    code: Code | None = None
    said: str = ""
    replies: list[bytes] = field(default_factory=list)

    @property
    def answered(self) -> bool:
        return self.status in (None, grpc.StatusCode.OK) and bool(self.replies)


def methods_of(*services: str) -> list[Method]:
    """The methods of services, by full name."""
    pool = descriptor_pool.Default()
    return [Method(method) for name in services for method in pool.FindServiceByName(name).methods]


def parts_of(message: Any) -> Iterator[bytes]:
    """What somebody signed in a request, as it was understood."""
    for found, value in message.ListFields():
        name = f"{message.DESCRIPTOR.name}.{found.name}"
        for one in value if found.is_repeated else [value]:
            if name in SIGNED:
                yield _encoded(one)
            elif found.type == FieldDescriptor.TYPE_MESSAGE:
                yield from parts_of(one)


def _encoded(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    value.DiscardUnknownFields()
    return bytes(value.SerializeToString(deterministic=True))


def fields_of_bytes(kind: Descriptor) -> Iterator[str]:
    """Fields that hold bytes or a signed message, `Message.field`."""
    for found in kind.fields:
        inner = found.message_type
        if found.type == FieldDescriptor.TYPE_BYTES or (inner is not None and inner.name == "SignedMessage"):
            yield f"{kind.name}.{found.name}"
        elif inner is not None:
            yield from fields_of_bytes(inner)


async def call(channel: grpc.aio.Channel, method: Method, messages: Sequence[bytes], close: bool = True) -> Outcome:
    """Send messages, however many a method takes; what comes back.

    Args:
        close: say that nothing follows; else the call is left open for a moment.
    """
    made = channel.stream_stream(method.path)(timeout=_SECONDS)
    answered = close and bool(messages) and not method.descriptor.server_streaming
    replies: list[bytes] = []
    try:
        for message in messages:
            await made.write(message)
        if close:
            await made.done_writing()
        while len(replies) < _ENOUGH:
            async with asyncio.timeout(_SECONDS if answered else _LEFT_SECONDS):
                reply = await made.read()
            if reply is grpc.aio.EOF:
                return await _ended(made, replies)
            replies.append(reply)
    except TimeoutError:
        pass
    except (asyncio.InvalidStateError, ExecuteBatchError):  # it was over while it wrote
        return await _ended(made, replies)
    except grpc.aio.AioRpcError as error:
        return Outcome(error.code(), code_of(error), error.details() or "", replies)
    finally:
        made.cancel()
    return Outcome(None, replies=replies)


async def _ended(made: Any, replies: list[bytes]) -> Outcome:
    status = await made.code()
    said, code = await made.details() or "", None
    if status is not grpc.StatusCode.OK:
        for key, value in await made.trailing_metadata() or ():
            if key == "proxid-code" and value in set(Code):
                code = Code(value)
    return Outcome(status, code, said, replies)


def refusals(method: Method, outcome: Outcome) -> list[str]:
    """Codes of the refusals in replies of a stream."""
    found = []
    for data in outcome.replies:
        reply = message_factory.GetMessageClass(method.descriptor.output_type).FromString(data)
        for part in getattr(reply, "outcomes", [reply]):
            refused = getattr(part, "refused", None)
            if refused:
                code = getattr(refused, "code", refused)
                found += [code] if code else []
    return found


def wrong(method: Method, outcome: Outcome, planted: Sequence[str]) -> str | None:
    """Why an outcome must not be; None for one that may."""
    if (word := next((word for word in planted if word in outcome.said), None)) is not None:
        return f"the refusal says {word!r}"
    for code in refusals(method, outcome):
        if code not in {known.value for known in TABLE} - {Code.INTERNAL.value}:
            return f"a message on the stream was refused with {code!r}"
    if outcome.status in (None, grpc.StatusCode.OK) or any(words in outcome.said for words in _OF_THE_CALLER):
        return None
    if outcome.code is None:
        # gRPC's own, before anybody here was asked: a message above the largest, no such method.
        known = [grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNIMPLEMENTED]
        known += [grpc.StatusCode.NOT_FOUND] if method.path.startswith("/grpc.health.") else []
        return None if outcome.status in known else f"{outcome.status} without a code: {outcome.said}"
    if outcome.code is Code.INTERNAL:
        return f"internal: {outcome.said}"
    if method.descriptor.containing_service.full_name == DEVICE:
        return None if outcome.status is grpc.StatusCode.ABORTED else f"{outcome.status} with {outcome.code}"
    expected = TABLE.get(outcome.code, (None,))[0]
    return None if outcome.status is expected else f"{outcome.status} with {outcome.code}"


def accepted_unsigned(method: Method, data: bytes, outcome: Outcome, genuine: set[bytes]) -> str | None:
    """What an answered message holds in a signed field that nobody signed; None if there is nothing."""
    if not outcome.answered or method.path in UNHEARD:
        return None
    try:
        parts = list(_answered(method, method.parsed(data), outcome))
    except DecodeError:
        return "it is no message at all"
    found = [part for part in parts if part and part not in genuine]
    return f"{len(found)} signed parts that nobody signed" if found else None


def _answered(method: Method, message: Any, outcome: Outcome) -> Iterator[bytes]:
    """Signed parts of what was answered: of a batch, of the requests whose outcome is no refusal."""
    if not method.descriptor.client_streaming:
        yield from parts_of(message)
        return
    answered = set[int]()
    for seen, data in enumerate(outcome.replies):
        reply = message_factory.GetMessageClass(method.descriptor.output_type).FromString(data)
        parts = getattr(reply, "outcomes", [reply])
        answered |= {getattr(part, "number", seen) for part in parts if not _is_refused(part)}
    for request in getattr(message, "requests", [message]):
        if getattr(request, "number", 0) in answered:
            yield from parts_of(request)


def _is_refused(reply: Any) -> bool:
    return "outcome" in reply.DESCRIPTOR.oneofs_by_name and reply.WhichOneof("outcome") == "refused"
