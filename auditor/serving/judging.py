"""Who answers for a message: signer or sanitizer, and what both logs say of it (DESIGN 4.1, 10.5).

In suite 1 the key that verifies the second signature is the answer, for anybody. The auditor adds what it alone can
see: the original, in the gateway's log, and whether the user block names whom the log links to the pseudonym.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from auditor.findings import GATEWAY
from auditor.reading.events import log_events
from auditor.reading.source import EvidenceSource, KeySource
from auditor.trust import Trust
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.identity import Link
from proxid.crypto.sansig import Role, SignedMessage
from proxid.crypto.sansig.judge import judge
from proxid.encoding import decode_text
from proxid.errors import EncodingError, HeaderMismatchError, MessageInvalidError, RateLimitError
from proxid.evidence.events import (
    AliasedPayload,
    ConsentPayload,
    DeliveredPayload,
    Event,
    EventType,
    LinkedPayload,
    SanitizedPair,
)
from proxid.evidence.note import Note
from proxid.runtime.transport.peers import Peer

_HOUR: Final = 3600.0


class Named(StrEnum):
    """Whether a user block names the person to whom the gateway's log links the pseudonym."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of a message.

    Attributes:
        accountable: for the user block; key: theirs. entry: of the gateway's log; 0 if it is in none that can be read.
        original: what the message was made from. None of records: a party would learn the pseudonym, by which two
            parties could join what they hold under different aliases.
    """

    accountable: Role
    key: bytes
    entry: int = 0
    named: Named = Named.UNKNOWN
    original: SignedMessage | None = None

    def note(self, signed: SignedMessage, auditor: str, key: SigningKey, now: float) -> bytes:
        """The judgement as a note that the auditor signs: whoever gets it can show it to others."""
        digest = hashlib.sha256(signed.encode()).hexdigest()
        lines = (
            f"proxid/judgement/{auditor}", digest, ROLES[self.accountable], self.key.hex(), f"gateway {self.entry}",
            self.named.value, str(int(now)), "",
        )  # fmt: skip
        return Note("\n".join(lines), ()).signed(auditor, key).encode()


ROLES: Final = {Role.SIGNER: "signer", Role.SANITIZER: "sanitizer"}


def verify_ours(signed: SignedMessage, trust: Trust) -> None:
    """That a message is of these services, whoever set its user block; raises HeaderMismatchError."""
    header = signed.header
    if (header.sanitizer, header.service) != (trust.screener, trust.service):
        raise HeaderMismatchError("message is of other services")


def judged(signed: SignedMessage, trust: Trust) -> Judgement:
    """Who answers for a message, by the message alone; raises ProxidError if nobody does."""
    verify_ours(signed, trust)
    role = judge(signed)
    return Judgement(role, signed.header.signer if role is Role.SIGNER else signed.header.sanitizer)


@dataclass(slots=True)
class Search:
    """Looks a message up in the gateway's log, with the names that the log has read until then.

    Attributes:
        known: heads that an audit, or somebody else, was shown, which that log must go on from. heads: signed ones that
            it was read by, which audits have to compare: or it could be another log for who asks here.
    """

    trust: Trust
    known: Sequence[bytes] = ()
    heads: list[bytes] = field(default_factory=list)
    users: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, set[str]] = field(default_factory=dict)

    def find(self, signed: SignedMessage, gateway: EvidenceSource, keys: KeySource) -> Judgement:
        """The judgement of a message with its entry, name and original.

        Raises:
            ProxidError: nobody answers for it. EvidenceUnreadableError: the log is away, or another than is known.
        """
        plain = judged(signed, self.trust)
        entry, pair, kind = 0, None, None
        for event in log_events(GATEWAY, gateway, keys, self.trust, self.known, self.heads.append):
            self._learn(event)
            if entry == 0 and (found := self._pair(event, signed)) is not None:
                entry, pair, kind = event.number, found, event.type
        if pair is None:
            return plain
        original = None if kind is EventType.DELIVERED else pair.original
        side, records = pair.sanitized, kind is EventType.DELIVERED
        if plain.accountable is Role.SIGNER:
            side, records = pair.original, False
        named = self._named(pair, side, signed, records=records)
        return Judgement(plain.accountable, plain.key, entry, named, original)

    def _learn(self, event: Event) -> None:
        if event.hidden:
            return
        if event.type is EventType.LINKED:
            link = Link.decode(LinkedPayload.decode(event.payload).link)
            self.users[link.prox_id] = link.user_id
        elif event.type is EventType.ALIASED:
            payload = AliasedPayload.decode(event.payload)
            self.aliases.setdefault(payload.user_id, set()).add(payload.name)

    @staticmethod
    def _pair(event: Event, signed: SignedMessage) -> SanitizedPair | None:
        """The pair of an event that the message was made from or is: they share the first signature."""
        try:
            return next((pair for pair in _pairs(event) if pair.original.fixed == signed.fixed), None)
        except (EncodingError, MessageInvalidError):
            return None  # what no audit can read either is its own violation

    def _named(self, pair: SanitizedPair, side: SignedMessage, signed: SignedMessage, *, records: bool) -> Named:
        """Of what the services say to people and parties; a request names its own author, or is the gateway's.

        Args:
            side: of the pair, that is signed as the message is. records: a party gets it, which no pseudonym is shown,
                nor an alias of another party.
        """
        prox = decode_text(pair.original.message.user_block)
        user = self.users.get(prox)
        if user is None:
            return Named.UNKNOWN
        names = {user, *self.aliases.get(user, ())} if records else {prox, user}
        said = signed.message.user_block
        return Named.RIGHT if said == side.message.user_block and decode_text(said) in names else Named.WRONG


def _pairs(event: Event) -> Iterator[SanitizedPair]:
    if event.hidden:
        return
    if event.type in {EventType.FORWARDED, EventType.ANSWERED}:
        yield SanitizedPair.decode(event.payload)
    elif event.type is EventType.CONSENT:
        payload = ConsentPayload.decode(event.payload)
        yield from (SanitizedPair.decode(data) for data in (payload.message, payload.acknowledgement) if data)
    elif event.type is EventType.DELIVERED:
        yield from (SanitizedPair.decode(data) for data in DeliveredPayload.decode(event.payload).pairs if data)


class Allowance:
    """How many messages a peer may have judged in an hour: each takes a reading of the gateway's log."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._made: dict[Peer, list[float]] = {}

    def take(self, peer: Peer) -> None:
        """One more; raises RateLimitError."""
        now = self._clock()
        made = [at for at in self._made.get(peer, []) if now - at < _HOUR]
        self._made[peer] = made
        if len(made) >= self._most:
            raise RateLimitError("too many messages to judge in an hour")
        made.append(now)
