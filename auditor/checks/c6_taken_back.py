"""What a person takes back at the Main Service (check 6 of DESIGN 10.4), recomputed from what they consented to.

A consent takes back, in the step that records it, what waits for an audience that it does not allow any more, and of
form `split` what of it had left: all of that, at once. What is in a group waits no more; but nothing tells of a close
of slots at which groups alone form, before they leave. So what may be in one leaves with it, before slots of its kind
are closed again.

So does a word of the gateway's that somebody objects (`c6_restricted`), of all that waits.

Anything else is withdrawn of who objects or is erased alone, or under a key that was lost, of which all is, before
anything comes under the one that took its place. An objection is recorded at the gateway after the Main Service has
done its part, so behind the request that was withdrawn for it: one of before says nothing. While nothing is said of
one, nobody can check it, and that is told.
"""

from collections.abc import Collection, Set
from typing import Final

from auditor.checks.c3_links import People
from auditor.checks.c5_groups import Groups
from auditor.checks.c5_slots import WITHHELD
from auditor.checks.c7_dropped import patience
from auditor.checks.c8_obligations import Obligations
from auditor.findings import CONSENT, MAIN_SERVICE, Report, Unchecked
from auditor.policies import Policies
from proxid.errors import ConsentError
from proxid.evidence.events import Event, EventType
from proxid.protocol import consent

_KEPT: Final = "somebody took a consent back, or objects, and what waited was kept"

_SETTLED: Final = 2
"""Epochs that have begun when nothing of one before them can wait any more."""

TakenBackState = tuple[
    set[bytes], dict[str, tuple[int, int]], set[str], set[str], set[str], dict[tuple[int, str], set[bytes]],
]  # fmt: skip
"""The sessions that are owed; by PROX_ID the epoch in which records went for a reason that is not known yet, and the
gateway's last event that forwarded one of these; those of which something has waited since; lost keys' PROX_IDs that
are over; those for which this is believed; what has to leave with a group."""


class TakenBack:
    """Reads WITHDRAWN after CONSENT."""

    def __init__(
        self, policies: Policies, people: People, groups: Groups, obligations: Obligations, report: Report
    ) -> None:
        self._policies, self._people, self._groups = policies, people, groups
        self._obligations, self._report = obligations, report
        self._owed: set[bytes] = set()
        self._slotted: dict[bytes, tuple[int, str]] = {}
        """Of what is owed, what may be in a group already: nothing tells of a close at which groups alone form."""
        self._formed: dict[tuple[int, str], set[bytes]] = {}
        """By epoch and kind, what was not taken back and has to leave with such a group."""
        self._taking = ""
        """Whose choice, or the gateway's word on whom, the event before these said; of this audit alone."""
        self._untold: set[bytes] = set()
        """Of what is owed, what the main service says by itself that it was told of; of this audit alone."""
        self._loose: dict[str, tuple[int, int]] = {}
        self._again: set[str] = set()
        self._over: set[str] = set()
        self._believed: set[str] = set()

    def consented(self, epoch: int, prox_id: str, bundle: str) -> None:
        """CONSENT: what waits for another audience than the bundle's goes now."""
        judge, self._taking = self._policies.of(epoch), prox_id
        if judge is not None:
            grants = judge.bundles.get(bundle, ())
            keep = {f"{kind}|{consent.audience_id(consent.audience(grants, kind))}" for kind in consent.TYPES}
            self._owes(epoch, prox_id, keep)

    def told(self, event: Event) -> None:
        """RESTRICTED: all that waits goes now; raises as `Restrictions.heeded`.

        Without the gateway's word that explains nothing which goes.
        """
        person, begins, told = self._obligations.restrictions.heeded(event)
        if begins and person is not None and self._policies.of(person.epoch) is not None:
            self._owes(person.epoch, person.prox_id, ())
            self._untold = set() if told else set(self._owed)
            self._taking = person.prox_id if told else ""

    def _owes(self, epoch: int, prox_id: str, keep: Collection[str]) -> None:
        held = self._groups.held(epoch, prox_id, keep)
        self._owed.update(held)
        slots = self._groups.replay(epoch).slots.items() if held else ()
        self._slotted = {s: (epoch, kind) for kind, at in slots for s in held if s in at.buffered}

    def received(self, epoch: int, prox_id: str) -> None:
        """RECEIVED: under a key in the place of a lost one once nothing waits under that; raises ConsentError."""
        lost = self._people.lost.before(prox_id)
        if not lost or lost in self._over:
            return
        self._over.add(lost)
        if self._groups.held(epoch, lost, ()):
            raise ConsentError("a key took the place of a lost one, and what waited under that was kept")

    def verify_waits(self, prox_id: str) -> None:
        """BUFFERED; raises ConsentError if its key was lost and another one has come in its place."""
        if prox_id in self._loose:
            self._again.add(prox_id)
        if prox_id in self._over:
            raise ConsentError("a record waits under a key whose place another had taken")

    def verify_done(self, event: Event) -> None:
        """Any event; raises ConsentError if something is owed that it is not."""
        if event.type is not EventType.WITHDRAWN:
            self._taking = ""
            if self._keeps():
                raise ConsentError(_KEPT)
        if self._formed:
            self._verify_left(event)

    def _keeps(self) -> bool:
        """Whether something is owed still that is in no group."""
        kept = self._owed - self._slotted.keys()
        for session in self._owed - kept:
            self._formed.setdefault(self._slotted[session], set()).add(session)
        self._owed.clear()
        return bool(kept)

    def _verify_left(self, event: Event) -> None:
        """What had been put into a group leaves with it, before its slots are closed again; raises ConsentError."""
        for (epoch, kind), formed in [*self._formed.items()]:
            formed.intersection_update(self._groups.replay(epoch).slots[kind].buffered)
            same = (event.fields.get("epoch"), event.fields.get("kind")) == (epoch, kind)
            kept = same and formed and not self._groups.is_blind(epoch, kind) and _waits_on(event, formed)
            if kept or not formed:
                del self._formed[epoch, kind]
            if kept:
                raise ConsentError(_KEPT)

    def withdrawn(self, epoch: int, session: bytes, prox_id: str, tag: bytes = b"") -> None:
        """WITHDRAWN of a record.

        Args:
            prox_id: whose it was; empty where the pool cannot be replayed, so that nobody knows what is owed.
            tag: subject tag that it waited under.
        """
        forwarded = self._obligations.sets.forwarded_at(session.hex()) or 0
        owed = session in self._owed
        self._owed.discard(session)
        if not prox_id and (person := self._people.of_tag(tag)) is not None:
            prox_id, owed = person.prox_id, person.prox_id == self._taking
        if prox_id and (not owed or session in self._untold):
            self._loose[prox_id] = (epoch, max(forwarded, self._loose.get(prox_id, (0, 0))[1]))

    def finish(self, newest: int, unread: Set[str] = frozenset()) -> None:
        """At the end: whoever took nothing back, objected to nothing and is not erased has lost nothing.

        Args:
            newest: the epoch that began last. unread: PROX_IDs of whose consents cannot be read.
        """
        if self._keeps():  # heads lie between steps
            self._report.once(CONSENT, MAIN_SERVICE, _KEPT)
        for prox_id, (epoch, _) in [*self._loose.items()]:
            known = prox_id not in unread and self._people.find(prox_id) is not None
            believed = known and self._believes(prox_id)
            if not known or self._is_explained(prox_id) or (believed and newest >= epoch + _SETTLED):
                del self._loose[prox_id]
        self._believed &= self._loose.keys()
        self._over, self._again = ({prox for prox in of if self._people.find(prox)} for of in (self._over, self._again))
        if gone := sum(prox_id not in self._believed for prox_id in self._loose):
            text = f"records of {gone} people were taken back who neither withdrew, objected nor were erased"
            self._report.missing.append(Unchecked(CONSENT, MAIN_SERVICE, text))

    def _is_explained(self, prox_id: str) -> bool:
        epoch, asked = self._loose[prox_id]
        until = patience(self._policies, epoch)
        return self._obligations.has_objected_since(self._people.user_of(prox_id), asked, until)

    def _believes(self, prox_id: str) -> bool:
        """Whether its key was lost, as long as nothing says otherwise: nobody says when the main service was told."""
        lost = self._people.lost.is_lost(prox_id) and prox_id not in self._again
        lost = lost and not self._is_explained(prox_id)
        if lost is not (prox_id in self._believed):
            self._report.believe(CONSENT, "lost", 1 if lost else -1)
            self._believed ^= {prox_id}
        return lost

    def state(self) -> TakenBackState:
        """For storing."""
        return self._owed, self._loose, self._again, self._over, self._believed, self._formed

    def restore(self, state: TakenBackState) -> None:
        """Go on from a state."""
        self._owed, self._loose, self._again, self._over, self._believed, self._formed = state


def _waits_on(event: Event, formed: Set[bytes]) -> bool:
    """Whether what was in a group is said to wait still, by an event of its epoch and kind."""
    if event.type is EventType.WITHDRAWN:
        return any(event.fields.get("session") == session.hex() for session in formed)
    return "close" in event.fields and event.type is not EventType.RELEASED and event.fields.get("reason") != WITHHELD
