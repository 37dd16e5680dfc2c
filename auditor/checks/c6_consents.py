"""Consent in the gateway's log (check 6 of DESIGN 10.4): whom each member of a group allowed, when the party got it.

A vector is in effect from its CONSENT on. What the one before granted may still arrive at a party until the change
is acknowledged to the person, and never after: a group that was written to a party before the change is either
acknowledged by that party before, or taken back. What a person takes back in a later epoch counts for what is still on
its way from earlier ones, too; a gateway that holds to that says of each group when it was SENT, as one of
version 2 did not.
"""

from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from auditor.checks.c3_links import Person
from proxid.errors import ConsentError
from proxid.evidence.events import Header
from proxid.protocol.consent import ConsentVector

NAME_SIZE: Final = 16

Grants = frozenset[tuple[str, str, str]]
"""Party, type, and how records of the type name the person."""
Named = Callable[[int, str, str], str]
"""How a record names its person: by epoch, type and what the bundle says."""


@dataclass(slots=True)
class Standing:
    """One person's consent in one epoch: in effect now, and what was before a change not yet acknowledged."""

    user_id: str = ""
    epoch: int = 0
    version: int = 0
    grants: Grants = frozenset()
    before: Grants = frozenset()
    instead: str = ""
    """PROX_ID of the lost key of the epoch whose place this one's took: what is on its way under that goes by this."""
    taken: list[tuple[int, bytes, Grants, int]] = field(default_factory=list)
    """Of each version the number of its CONSENT, its message's name, what it grants, its time (Unix milliseconds)."""

    def newest(self, event: int) -> int:
        """The version in effect before an event of the gateway; 0 if nothing had been chosen yet."""
        return bisect_left(self.taken, event, key=itemgetter(0))


@dataclass(slots=True)
class Consents:
    """Consents by PROX_ID, as the gateway's log goes on.

    Attributes:
        timeline: counts changes by bundle and epoch. taken_back: by user, of each `PARTY|TYPE` that was ever allowed
            the newest epoch in which it was acknowledged that it no longer is, or 0. asked_back: the same, by when
            the person chose so. confirmed: by PROX_ID, the version
            that MS acknowledged last, with number and subject tag of the event.
    """

    standing: dict[str, Standing] = field(default_factory=dict)
    timeline: dict[tuple[int, str], int] = field(default_factory=dict)
    taken_back: dict[str, dict[str, int]] = field(default_factory=dict)
    asked_back: dict[str, dict[str, int]] = field(default_factory=dict)
    confirmed: dict[str, tuple[int, int, bytes]] = field(default_factory=dict)
    passed_on: dict[str, bytes] = field(default_factory=dict)
    """By PROX_ID, what MS's acknowledgement that went to the person last is remembered by (`signatures.name_of`)."""
    _own: dict[str, list[tuple[int, str]]] = field(default_factory=dict, init=False)
    """Epochs, rising, and PROX_IDs by user."""

    def __post_init__(self) -> None:
        for prox_id, at in self.standing.items():
            insort(self._own.setdefault(at.user_id, []), (at.epoch, prox_id))

    def changed(
        self, person: Person, vector: ConsentVector, named: Named, event: int = 0, message: tuple[bytes, int] = (b"", 0)
    ) -> bool:  # fmt: skip
        """A vector was taken into effect; whether it took a grant back. Raises ConsentError if not the next version.

        Args:
            event: number of its CONSENT. message: session id and time of the message that goes to MS.
        """
        at = self.standing.setdefault(person.prox_id, Standing())
        if vector.version != at.version + 1:
            raise ConsentError("consent is not the next version")
        if not at.version:
            insort(self._own.setdefault(person.user_id, []), (person.epoch, person.prox_id))
        at.user_id, at.epoch, at.version = person.user_id, person.epoch, vector.version
        at.instead = person.instead
        last, at.before = at.grants, at.before | at.grants
        at.grants = frozenset(
            (g.party, kind, named(person.epoch, kind, g.fidelity)) for g in vector.grants for kind in g.types
        )
        at.taken.append((event, message[0][:NAME_SIZE], at.grants, message[1]))
        if earlier := self.standing.get(at.instead):
            earlier.before, earlier.grants = earlier.before | earlier.grants, at.grants
            earlier.taken.append(at.taken[-1])
        for offer in _offers(at.grants):
            self.taken_back.setdefault(person.user_id, {}).setdefault(offer, 0)
        lost = self.taken_back.get(person.user_id, {}).keys() - _offers(at.grants)
        self.asked_back.setdefault(person.user_id, {}).update(dict.fromkeys(lost, person.epoch))
        key = (person.epoch, vector.bundle)
        self.timeline[key] = self.timeline.get(key, 0) + 1
        return not last <= at.grants

    def message(self, prox_id: str, version: int) -> bytes | None:
        """Name of the message of a version of a person's choice; None if the log holds none."""
        taken = self.standing.get(prox_id, Standing()).taken
        return taken[version - 1][1] if 0 < version <= len(taken) else None

    def taken_at(self, prox_id: str, version: int) -> tuple[int, int]:
        """Event and time (Unix milliseconds) from which a version that was taken is in effect at the gateway."""
        event, _, _, time_ms = self.standing[prox_id].taken[version - 1]
        return event, time_ms

    def acknowledged(self, prox_id: str, version: int) -> tuple[str, int, frozenset[str]]:
        """MS's acknowledgement went to the person; raises ConsentError for a version that was never taken.

        Returns:
            user, epoch, and the parties that may get nothing of the user's earlier epochs in form `split` any more.
        """
        at = self.standing.setdefault(prox_id, Standing())
        if version > at.version:
            raise ConsentError("a consent was acknowledged that was never taken")
        if version != at.version:
            return at.user_id, at.epoch, frozenset()
        at.before = frozenset()
        if earlier := self.standing.get(at.instead):
            earlier.before = at.before
        marks = self.taken_back.get(at.user_id, {})
        lost = marks.keys() - _offers(at.grants)
        marks.update((offer, max(marks[offer], at.epoch)) for offer in lost)
        general = (offer.rpartition("|") for offer in lost)
        return at.user_id, at.epoch, frozenset(party for party, _, kind in general if kind == "general")

    def allowed(self, at: Standing, grant: tuple[str, str, str], event: int) -> bool:
        """Whether a person allowed (party, type, fidelity) at an event, and had not taken it back in a later epoch."""
        if grant not in (granted(at, event) or ()):
            return False
        own = self._own.get(at.user_id, [])
        first = bisect_left(own, at.epoch + 1, key=itemgetter(0))
        later = (granted(self.standing[prox_id], event) for _, prox_id in own[first:])
        return all(any(g[:2] == grant[:2] for g in grants) for grants in later if grants is not None)

    def verify_delivery(self, prox_ids: list[str], wanted: tuple[str, str, str], sent: int | None) -> None:
        """A party got a group or entries; raises ConsentError if a member did not allow that.

        Args:
            wanted: party, type, fidelity. sent: the event that says when they were sent, if one does.
        """
        party, kind, _ = wanted
        for prox_id in prox_ids:
            at = self.standing.get(prox_id, Standing())
            if wanted not in at.grants and wanted not in at.before:
                raise ConsentError("a group was delivered although a member did not consent to it")
            if sent is not None and not self.allowed(at, wanted, sent):
                raise ConsentError("a party was sent what a member had taken back, or not yet allowed")
            if sent is not None and self.taken_back.get(at.user_id, {}).get(f"{party}|{kind}", 0) > at.epoch:
                raise ConsentError("a party got what somebody had taken back in a later epoch")

    def forget(self, prox_id: str) -> None:
        """An erased person's consent."""
        at = self.standing.pop(prox_id, Standing())
        if (at.epoch, prox_id) in (own := self._own.get(at.user_id, [])):
            own.remove((at.epoch, prox_id))
        self.taken_back.pop(at.user_id, None)
        self.asked_back.pop(at.user_id, None)
        self.confirmed.pop(prox_id, None)
        self.passed_on.pop(prox_id, None)


def verify_named(fields: Header, message: bytes, vector: ConsentVector) -> None:
    """A CONSENT's header names the message (its session id) and the vector that were received; raises ConsentError."""
    said = message.hex()  # a gateway of before named no message
    if (fields["epoch"], fields["version"], fields.get("message", said)) != (vector.epoch, vector.version, said):
        raise ConsentError("event names another consent than it holds")


def granted(at: Standing, event: int) -> Grants | None:
    """What was granted before an event of the gateway; None if nothing had been chosen yet."""
    version = at.newest(event)
    return at.taken[version - 1][2] if version else None


def _offers(grants: Grants) -> frozenset[str]:
    """`PARTY|TYPE` of grants."""
    return frozenset(f"{party}|{kind}" for party, kind, _ in grants)
