"""A service's word that what was asked stands in its log, at which number, and how far the log was signed then (10.4).

    promise   Sign(sk, E("promise", log, number, type, asked, time, head))        head: the newest signed one, a note

Rare messages carry one: consents, receipts of rights, parties' acknowledgements of deliveries. The number is fixed in
the store's step, so nobody waits for a head. Two promises of one log bound how late it may be: what was promised more
than `MERGE_SECONDS` before is covered by the head of the later one.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Final

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.encoding import decode, decode_int, decode_text, encode, label
from proxid.errors import NoteInvalidError
from proxid.evidence.checkpoint import Checkpoint, generation_of, open_checkpoint
from proxid.evidence.events import EventType
from proxid.evidence.note import Verifier
from proxid.protocol.receipt import DeliveryAck

MERGE_SECONDS: Final = 60.0
"""The merge delay: within it what is promised is covered by a signed head. A service that is behind by half of it takes
nothing new."""
_PROMISE: Final = label("promise")
_ACCEPTED: Final = label("delivery-accepted")


def accepted(ack: DeliveryAck) -> bytes:
    """What DELIVERED and its promise name a party's acknowledgement by, 32 bytes."""
    return hashlib.sha256(encode(_ACCEPTED, ack.encode())).digest()


@dataclass(frozen=True, slots=True)
class Promise:
    """Entry `number` (from 1) of a log, of an event's type, is of what was asked.

    Attributes:
        log: its origin. asked: session id of a consent's message, digest of a right's request, or `accepted`.
        time_ms: Unix milliseconds. head: the newest signed head of the service's log then, a C2SP note.
    """

    log: str
    number: int
    type: str
    asked: bytes
    time_ms: int
    head: bytes
    signature: bytes = b""

    def _body(self) -> bytes:
        return encode(_PROMISE, self.log, self.number, self.type, self.asked, self.time_ms, self.head)

    def sign(self, key: SigningKey) -> "Promise":
        """The same promise, signed by the service."""
        return replace(self, signature=key.sign(self._body()))

    def verify(self, first: Verifier) -> Checkpoint:
        """Check that a service gave it; the head that it holds.

        Args:
            first: the verifier of the service's first log.

        Raises:
            NoteInvalidError: it is of another log, or its head is none. SignatureInvalidError, KeyInvalidError.
        """
        ed25519.verify(first.key, self._body(), self.signature)
        if not generation_of(self.log, first.name):
            raise NoteInvalidError("promise is of another log")
        return opened(self.head, first)[0]

    def verify_of(self, first: Verifier, kind: EventType, asked: bytes) -> None:
        """Check that a service gave it, of an entry of this type, for what was asked.

        Raises:
            NoteInvalidError: of something else, or of no entry; and as `verify`.
        """
        self.verify(first)
        if self.number < 1 or (self.type, self.asked) != (kind.value, asked):
            raise NoteInvalidError("something else was promised than what was asked")

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.log, self.number, self.type, self.asked, self.time_ms, self.head, self.signature)

    @classmethod
    def decode(cls, data: bytes) -> "Promise":
        """The promise of an encoding; raises EncodingError."""
        log, number, kind, asked, time_ms, head, signature = decode(data, 7)
        return cls(
            decode_text(log), decode_int(number), decode_text(kind), asked, decode_int(time_ms), head, signature
        )  # fmt: skip


def opened(head: bytes, first: Verifier) -> tuple[Checkpoint, int]:
    """A signed head of one of a service's logs, and which of them it is of, counted from 1.

    Args:
        first: the verifier of the first.

    Raises:
        NoteInvalidError: it is none.
    """
    name = head.partition(b"\n")[0].decode("utf-8", "replace")
    generation = generation_of(name, first.name)
    if not generation:
        raise NoteInvalidError("head is of another log")
    return open_checkpoint(head, Verifier(name, first.key))[0], generation
