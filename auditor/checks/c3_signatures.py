"""Signatures checked once (check 3 of DESIGN 10.4): most signed messages stand in both logs.

A message that was found good is remembered by the hash of all its bytes, signature and role, until the other log shows
it: a request forwarded is the one received, a record released the one delivered. Nothing is left out: what differs in
one bit is another message, and is checked anew. `prove` does the work that needs nothing but the message, so that
other processes can do it ahead; whatever they do not vouch for is checked where the error is reported.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

from proxid.crypto.sansig import Role, SignedMessage, verify_proof
from proxid.crypto.sansig.judge import Proof
from proxid.crypto.sansig.scheme import verify_signatures
from proxid.encoding import encode, label
from proxid.errors import ProxidError
from proxid.evidence.events import ConsentPayload, DeliveredPayload, EventType, SanitizedPair

Job = tuple[EventType, bytes]
"""An event's type and payload."""

NAME_SIZE: Final = 32
"""Bytes of what a good message is remembered by."""

_GOOD: Final = label("audited")


def name_of(signed: SignedMessage, role: Role) -> bytes:
    """What a good message is remembered by, 32 bytes."""
    return hashlib.sha256(encode(_GOOD, role.value, signed.encode())).digest()


def name_of_pair(pair: SanitizedPair) -> bytes:
    """The same for a pair whose parts share everything but the user block, 32 bytes."""
    sanitized = pair.sanitized
    return hashlib.sha256(
        encode(_GOOD, pair.original.encode(), sanitized.message.user_block, sanitized.signature)
    ).digest()


class Signatures:
    """Verifies signatures that nobody vouches for."""

    def __init__(self) -> None:
        self.proven: frozenset[bytes] = frozenset()
        """Pairs that other processes have verified, of the events being read."""

    def pair(self, pair: SanitizedPair) -> None:
        """Check a pair, after its header.

        Raises:
            ProofInvalidError, SignatureInvalidError, KeyInvalidError: it does not hold.
        """
        if not self.proven or name_of_pair(pair) not in self.proven:
            verify_proof(Proof(pair.original), pair.sanitized)

    @staticmethod
    def message(signed: SignedMessage, role: Role, good: bytes) -> None:
        """Check a message, after its header.

        Args:
            good: `name_of` the message that the other log showed in its place and that was found good, or empty.

        Raises:
            SignatureInvalidError, KeyInvalidError, HeaderMismatchError: it does not hold.
        """
        if not good or name_of(signed, role) != good:
            verify_signatures(signed, role)


def prove(jobs: Iterable[Job]) -> frozenset[bytes]:
    """Names of those pairs in some events whose signatures hold. What does not is left for the reader to find."""
    good = set()
    for kind, payload in jobs:
        for pair in _pairs(kind, payload):
            try:
                verify_proof(Proof(pair.original), pair.sanitized)
                good.add(name_of_pair(pair))
            except ProxidError:
                continue
    return frozenset(good)


PROVABLE: Final = frozenset({EventType.FORWARDED, EventType.ANSWERED, EventType.DELIVERED, EventType.CONSENT})
"""Events of the gateway's log that hold pairs."""


def _pairs(kind: EventType, payload: bytes) -> list[SanitizedPair]:
    try:
        if kind is EventType.DELIVERED:
            return [SanitizedPair.decode(data) for data in DeliveredPayload.decode(payload).pairs if data]
        if kind is EventType.CONSENT:
            consent = ConsentPayload.decode(payload)
            return [SanitizedPair.decode(data) for data in (consent.message, consent.acknowledgement) if data]
        return [SanitizedPair.decode(payload)]
    except ProxidError:
        return []
