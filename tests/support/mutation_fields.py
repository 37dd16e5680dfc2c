"""Every field of an event, found by looking into it, and other valid values of each.

A header's fields are those that it has; a payload's are the fields of its dataclass in `proxid.evidence.events`, and of
what these hold in turn. What the lying service has signed it signs again.
"""

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import proxid.evidence.events
from proxid.crypto.identity import Credential, Enrolment, EpochKey, Link
from proxid.crypto.padding import pad, unpad
from proxid.crypto.sansig import Message, Role, SignedMessage
from proxid.encoding import decode, encode
from proxid.errors import ProxidError
from proxid.evidence.events import (
    AliasedPayload,
    BufferedPayload,
    ConsentPayload,
    DeliveredPayload,
    EnrolledPayload,
    EpochOpened,
    EventType,
    LinkedPayload,
    ReceivedPayload,
    ReleasedPayload,
    RestrictedPayload,
    SanitizedPair,
    decode_header,
    encode_header,
)
from proxid.evidence.promise import Promise
from proxid.protocol.consent import ConsentVector
from proxid.protocol.feedkey import FeedKeyMessage
from proxid.protocol.notice import NoticeAck
from proxid.protocol.opening import EpochOpening
from proxid.protocol.receipt import DeliveryAck
from proxid.protocol.record import BODY_SIZE
from proxid.protocol.restriction import Restriction
from proxid.protocol.rights import ErasedDisclosure, RightsRequest, Told, erased_info
from proxid.runtime.evidence_log.encryptor import PlainEvent
from tests.support.mutation_history import SERVICE, History

E = EventType
ABSENT: Final = object()
"""In the place of a header's field that is left out."""


@dataclass(frozen=True, slots=True)
class Items:
    """E(…) of things that have no dataclass."""

    items: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Sealed:
    """A disclosure sealed to the auditor."""

    disclosed: ErasedDisclosure


@dataclass(frozen=True, slots=True)
class Body:
    """A record's body with its salt."""

    items: tuple[bytes, ...]


PAYLOADS: Final[dict[tuple[str, EventType], type]] = {
    ("gateway", E.ENROLLED): EnrolledPayload, ("gateway", E.LINKED): LinkedPayload, ("gateway", E.KEYED): Items,
    ("gateway", E.ALIASED): AliasedPayload, ("gateway", E.CONSENT): ConsentPayload,
    ("gateway", E.FORWARDED): SanitizedPair, ("gateway", E.ANSWERED): SanitizedPair,
    ("gateway", E.DELIVERED): DeliveredPayload, ("gateway", E.EPOCH_OPENED): EpochOpened,
    ("gateway", E.ERASED): Sealed, ("gateway", E.OBJECTED): Sealed, ("gateway", E.ACCESSED): Sealed,
    ("gateway", E.NOTICED): NoticeAck,
    ("main-service", E.EPOCH_OPENED): EpochOpened, ("main-service", E.CONSENT): Items,
    ("main-service", E.RECEIVED): ReceivedPayload, ("main-service", E.BUFFERED): BufferedPayload,
    ("main-service", E.SUPPRESSED): BufferedPayload, ("main-service", E.RELEASED): ReleasedPayload,
    ("main-service", E.RESTRICTED): RestrictedPayload,
}  # fmt: skip
"""What payloads are."""
HELD: Final[dict[str, type]] = {
    "EnrolledPayload.enrolment": Enrolment, "LinkedPayload.enrolment": Enrolment, "LinkedPayload.link": Link,
    "LinkedPayload.credential": Credential, "ConsentPayload.vector": ConsentVector,
    "ConsentPayload.message": SanitizedPair, "ConsentPayload.acknowledgement": SanitizedPair,
    "DeliveredPayload.acknowledgement": DeliveryAck, "DeliveredPayload.pairs[]": SanitizedPair,
    "EpochOpened.key": EpochKey, "EpochOpened.feeds[]": FeedKeyMessage, "EpochOpened.opening": EpochOpening,
    "ReceivedPayload.request": SignedMessage, "ReceivedPayload.credential": Credential,
    "BufferedPayload.opening": Items, "ReleasedPayload.parties[][][]": SignedMessage,
    "ErasedDisclosure.request": RightsRequest, "ErasedDisclosure.enrolment": Enrolment,
    "ErasedDisclosure.owner_salts[][]": Told, "Told.promise": Promise,
    "RestrictedPayload.word": Restriction,
}  # fmt: skip
"""What a field of bytes holds in turn."""
ENUMS: Final[dict[str, tuple[str, ...]]] = {
    "header.rule": ("rate_limited", "nonce_used", "seal_invalid", "unavailable"),
    "header.kind": ("general", "location", "command", "entries", "contents", "payloads", "links", "feeds"),
    "header.phase": ("received", "acknowledged"),
    "header.right": ("access", "erase", "object", "resume"),
    "header.reason": (
        "rejected", "no_category", "unprocessable", "classifier_failed", "no_place", "no_shape", "repeated", "capped",
        "slot_quota", "restricted", "erased", "access", "no_consent", "consent_changed", "epoch_over", "unseasoned",
        "place_budget", "restriction", "expired", "epoch_end", "tick_uniform", "objected", "withdrawn", "party_left",
        "invalid", "late",
    ),
}  # fmt: skip
"""Values of fields that are words of a few."""


def not_walked() -> set[type]:
    """Dataclasses of `proxid.evidence.events` that are not walked into."""
    known = {*PAYLOADS.values()}
    found = {one for one in vars(proxid.evidence.events).values() if dataclasses.is_dataclass(one)}
    return {one for one in found if isinstance(one, type) and one.__name__ != "Event"} - known


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an event: where, what, and the event with another value there."""

    path: str
    value: Any
    put: Callable[[Any], PlainEvent]


class Fields:
    """Looks into the events of one log, as the service that wrote it."""

    def __init__(self, history: History, log: str) -> None:
        self._history, self._log, self._key = history, log, history.keys[log]

    def of(self, event: PlainEvent, payload: bool = True) -> Iterator[Field]:
        """The fields of an event, of its payload only if that can be read. Its salt is drawn, and says nothing."""
        header = decode_header(event.fields)
        for name, value in header.items():

            def put(new: Any, name: str = name) -> PlainEvent:
                changed = {key: item for key, item in header.items() if key != name}
                return dataclasses.replace(
                    event, fields=encode_header(**(changed if new is ABSENT else {**changed, name: new}))
                )

            yield from self._walk(f"header.{name}", value, put)
        kind = PAYLOADS.get((self._log, event.type))
        if kind is None or not event.payload or not payload:
            return

        opened = self._open(kind, event.payload)

        def put_payload(new: Any) -> PlainEvent:
            if new == opened:  # signed again it is what it was, and each seal is another one
                return event
            data = new.payload if kind is EpochOpened else self._close(new)
            return dataclasses.replace(event, payload=data)

        yield from self._walk("payload", opened, put_payload)

    def _walk(self, path: str, value: Any, put: Callable[[Any], PlainEvent], held: str = "") -> Iterator[Field]:
        if isinstance(value, bytes) and value and held in HELD and (opened := self._try(HELD[held], value)) is not None:
            yield from self._walk(path, opened, lambda new: put(self._close(new)))
        elif isinstance(value, SanitizedPair):
            yield from self._pair(path, value, put)
        elif isinstance(value, SignedMessage):
            yield from self._message(path, value, put)
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            name = type(value).__name__
            for one in dataclasses.fields(value):

                def put_field(new: Any, name: str = one.name) -> PlainEvent:
                    return put(dataclasses.replace(value, **{name: new}))

                yield from self._walk(f"{path}.{one.name}", getattr(value, one.name), put_field, f"{name}.{one.name}")
        elif isinstance(value, tuple | list):
            yield from self._many(path, value, put, held)
        else:
            yield Field(path, value, put)

    def _many(self, path: str, value: Any, put: Callable[[Any], PlainEvent], held: str) -> Iterator[Field]:
        yield Field(path, value, put)
        for at, item in enumerate(value):

            def put_item(new: Any, at: int = at) -> PlainEvent:
                return put(type(value)([*value[:at], new, *value[at + 1 :]]))

            yield from self._walk(f"{path}[]", item, put_item, f"{held}[]")

    def _pair(self, path: str, pair: SanitizedPair, put: Callable[[Any], PlainEvent]) -> Iterator[Field]:
        """The gateway signs what it sanitised again; what it was made of is somebody else's."""

        def put_original(new: SignedMessage) -> PlainEvent:
            return put(self._sanitized(new, pair.sanitized.message.user_block))

        def put_block(new: bytes) -> PlainEvent:
            return put(self._sanitized(pair.original, new))

        yield from self._message(f"{path}.original", pair.original, put_original)
        yield Field(f"{path}.sanitized.user_block", pair.sanitized.message.user_block, put_block)

    def _sanitized(self, original: SignedMessage, block: bytes) -> SanitizedPair:
        changed = original.message.with_user_block(block)
        full = self._key.sign(changed.full_input(Role.SANITIZER, original.fixed))
        return SanitizedPair(original, SignedMessage(changed, original.fixed + full))

    def _message(self, path: str, signed: SignedMessage, put: Callable[[Any], PlainEvent]) -> Iterator[Field]:
        message = signed.message

        def again(new: Message) -> PlainEvent:
            if new.header.signer != self._key.public:
                return put(SignedMessage(new, signed.signature))
            fixed = self._key.sign(new.fixed_input)
            return put(SignedMessage(new, fixed + self._key.sign(new.full_input(Role.SIGNER, fixed))))

        yield from self._walk(f"{path}.header", message.header, lambda new: again(Message(new, message.blocks)))
        for at, block in enumerate(message.blocks):

            def put_block(new: bytes, at: int = at) -> PlainEvent:
                return again(Message(message.header, (*message.blocks[:at], new, *message.blocks[at + 1 :])))

            yield Field(f"{path}.blocks[{at}]", block, put_block)
        if message.header.signer != self._key.public:
            yield Field(f"{path}.signature", signed.signature, lambda new: put(SignedMessage(message, new)))

    def _try(self, kind: type, data: bytes) -> Any:
        try:
            return self._open(kind, data)
        except (ProxidError, ValueError):
            return None

    def _open(self, kind: type, data: bytes) -> Any:
        if kind is Items:
            return Items(tuple(decode(data)))
        if kind is Sealed:
            return Sealed(ErasedDisclosure.decode(self._history.auditor.open(data, erased_info(SERVICE))))
        if kind is SignedMessage and len(data) == BODY_SIZE:
            return Body(tuple(decode(unpad(data, (BODY_SIZE,)))))
        return kind.decode(data)  # type: ignore[attr-defined]

    def _close(self, value: Any) -> bytes:
        """The encoding, signed again if that is the lying service's to do."""
        if isinstance(value, Items):
            return encode(*value.items)
        if isinstance(value, Body):
            return pad(encode(*value.items), (BODY_SIZE,))
        if isinstance(value, Sealed):
            return self._history.auditor.public.seal(value.disclosed.encode(), erased_info(SERVICE))
        if self._log == "gateway" and isinstance(value, Credential):
            value = value.issue(self._key)
        if self._log == "main-service" and isinstance(value, EpochKey):
            value = value.issue(self._key)
        if self._log == "main-service" and isinstance(value, FeedKeyMessage):
            value = value.sign(self._key)
        return bytes(value.encode())


def others(field: Field, known: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Other valid values of a field, each with how it was found.

    Args:
        known: what the field is in other events of the type.
    """
    value, path = field.value, field.path
    if path.startswith("header.") and "[]" not in path:
        yield "absent", ABSENT
    for at, other in enumerate(known[:2]):
        yield f"other-{at}", other
    if isinstance(value, bool):
        yield "not", not value
    elif isinstance(value, Enum):
        for member in type(value):
            yield f"enum-{member.name}", member
    elif isinstance(value, int):
        yield "more", value + 1
        if value > 0:
            yield "less", value - 1
    elif isinstance(value, str):
        yield from _texts(path, value)
    elif isinstance(value, bytes) and value:
        yield "bit", value[:-1] + bytes([value[-1] ^ 1])
        if len(value) in (16, 32):
            yield "hash", hashlib.sha256(value).digest()[: len(value)]
    elif isinstance(value, tuple | list):
        yield from _lists(value)


def _texts(path: str, value: str) -> Iterator[tuple[str, str]]:
    for word in ENUMS.get(path, ()):
        yield f"enum-{word}", word
    if re.fullmatch(r"([0-9a-f]{2}){8,}", value):
        yield "hash", (hashlib.sha512(value.encode()).hexdigest() * 9)[: len(value)]
    elif found := re.search(r"\d+", value):
        for how, step in (("more", 1), ("less", -1)):
            yield how, value[: found.start()] + str(max(0, int(found[0]) + step)) + value[found.end() :]
    else:
        yield "text", value + "x"


def _lists(value: Any) -> Iterator[tuple[str, Any]]:
    made = type(value)
    if len(value):
        yield "without the first", made(value[1:])
        yield "the first twice", made([*value, value[0]])
    if len(value) > 1:
        yield "turned", made([*value[1:], value[0]])
