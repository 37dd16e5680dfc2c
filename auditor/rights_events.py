"""Events of persons' rights in the Identity Screener's log (checks 2 and 8 of DESIGN 10.4)."""

from collections.abc import Callable
from typing import Final, NamedTuple

from auditor.checks.c2_erasures import Erasures
from auditor.checks.c2_expiry import EARLY, may_be_gone
from auditor.checks.c3_asked import Asked, AskedState
from auditor.checks.c3_links import People
from auditor.checks.c6_consents import Consents
from auditor.checks.c6_split import SplitDeliveries
from auditor.checks.c8_obligations import Obligations
from auditor.checks.c8_told import LEAVING
from auditor.event_log import check_of, form_of
from auditor.findings import CONSENT, ERASURE, GATEWAY, SIGNATURES, Basis, Report, Unchecked
from auditor.policies import Policies
from auditor.skew import longest_skew
from proxid.crypto.identity import Enrolment
from proxid.crypto.revocation import Revocation, revoked_info
from proxid.errors import MessageInvalidError, RecordMismatchError
from proxid.evidence.events import Event
from proxid.protocol.rights import Right, RightsRequest

_TOLD: Final = 3
"""The form of OBJECTED that says how the main service was told."""
_UNPROMISED: Final = "OBJECTED: an objection is recorded without the main service's promise that it was told"


class Lacking(NamedTuple):
    """What an event says too little of, unless links of these epochs may have expired when it was recorded."""

    rule: int
    event: int
    epochs: tuple[int, ...]
    text: str


RightsState = tuple[dict[str, int], AskedState, list[Lacking]]
"""Parties not told, when people asked, and what events say too little of."""


class RightsEvents:
    """Handlers; they raise as `Log` expects.

    Attributes:
        asked: when people asked for it.
        untold: parties that were not told of an erasure → number of ERASED: they have left in the next epoch.
    """

    def __init__(
        self, people: People, consents: Callable[[], Consents], erasures: Erasures, obligations: Obligations,
        split: SplitDeliveries, policies: Policies, report: Report,
    ) -> None:  # fmt: skip
        self._people = people
        self._consents = consents
        self._erasures = erasures
        self._obligations = obligations
        self._split = split
        self._policies = policies
        self._report = report
        self.untold: dict[str, int] = {}
        self._lacking: list[Lacking] = []
        self.asked = Asked(lambda: longest_skew(policies))

    def state(self) -> RightsState:
        """For storing."""
        return self.untold, self.asked.state(), self._lacking

    def restore(self, state: RightsState) -> None:
        """Go on from a state."""
        self.untold, asked, self._lacking = state
        self.asked.restore(asked)

    def verify_form(self, said: bool) -> None:
        """A log that says which epochs were opened is of version 2: its events say what those of version 2 do."""
        if self._policies.told and not said:
            raise RecordMismatchError("event says less than its version of the log demands")

    def exercised(self, right: str) -> None:
        """Count a right that somebody exercised."""
        self._report.counts[f"rights.{right}"] += 1

    def erased(self, event: Event) -> str:
        """ERASED; who was."""
        self._report.rests(ERASURE, Basis.COUNTERSIGNED)
        tags, request, enrolment = self._erasures.took_effect(event)
        self.asked.carried_out(event.number, request.time_ms)
        with check_of(ERASURE):
            self._people.verify_held(enrolment, event.number, request.time_ms)
        left = self._left_out(request.user_id, tags)
        self._obliged(event, tags, request)
        self._lacks(ERASURE, event, left, "ERASED: an erasure leaves out evidence of who asked for it")
        self._people.forget_part(request.user_id)
        return request.user_id

    def _left_out(self, user_id: str, tags: set[bytes]) -> tuple[int, ...]:
        """Epochs in which a user has an epoch key that is of none of these tags."""
        named = {person.prox_id for tag in tags if (person := self._people.of_tag(tag)) is not None}
        own = [person for epoch in self._policies.told if (person := self._people.last_of(user_id, epoch)) is not None]
        left = (person for person in own if not {person.prox_id, *filter(None, (person.instead,))} <= named)
        return tuple(person.epoch for person in left)

    def _lacks(self, rule: int, event: Event, epochs: tuple[int, ...], text: str) -> None:
        """What an event says too little of, unless links of these epochs have surely expired; else see at the end.

        What is carried out once the main service is back after weeks is recorded before an epoch begins that shows it.
        """
        now = self._policies.trust.epochs.end(max(self._policies.told, default=0)) + EARLY
        if kept := tuple(epoch for epoch in epochs if not self._may_be_gone(epoch, now)):
            self._lacking.append(Lacking(rule, event.number, kept, text))

    def _may_be_gone(self, epoch: int, now: float) -> bool:
        """Whether links of an epoch may have expired: the log says so an hour before, or later, if nobody asked."""
        end, held = self._policies.trust.epochs.end(epoch), self._policies.retention(epoch)
        return epoch in self._erasures.links or held is None or now >= end + held.links

    def erased_unread(self, event: Event) -> None:
        """ERASED whose payload has expired."""
        self._report.counts["events.unproven_erasures"] += 1
        self._obliged(event, self._erasures.took_effect_unread(event), None)
        self._people.forget_part(None)

    def _obliged(self, event: Event, tags: set[bytes], request: RightsRequest | None) -> None:
        told = event.fields.get("forgotten", [])
        forgotten = {bytes.fromhex(str(tag)) for tag in told} if isinstance(told, list) else set()
        self._forget(tags, forgotten)
        self._names_somebody(event)
        with check_of(ERASURE):
            self.verify_form(event.fields.get("v") == 2)
            self._obligations.erased(event, tags, self._erasures.epochs, request)
            if event.fields.get("v") != 2:
                self._report.older("erased")
        untold = event.fields.get("untold", [])
        if isinstance(untold, list):
            there = set(map(str, untold)).intersection(self._policies.newest_parties())  # others may be back since
            self.untold |= {party: event.number for party in there if party not in self.untold}

    def _forget(self, tags: set[bytes], forgotten: set[bytes]) -> None:
        left: dict[int, set[bytes]] = {}
        for tag in tags & forgotten:  # two of an epoch, if a key was lost in it
            if (epoch := self._erasures.epochs.get(tag)) is not None:
                left.setdefault(epoch, set()).add(tag)
        for tag in tags:
            person = self._people.erased(tag)
            self._split.erased("" if person is None else person.user_id, left)
            if person is not None:
                self._consents().forget(person.prox_id)
        self.exercised(Right.ERASE.value)

    def objected(self, event: Event) -> int:
        """OBJECTED; its form."""
        form = form_of(event)
        self._report.rests(SIGNATURES, Basis.COUNTERSIGNED)
        disclosure = self._erasures.disclosed(event, Right.OBJECT, Right.RESUME)
        request = RightsRequest.decode(disclosure.request)
        self.asked.carried_out(event.number, request.time_ms)
        self._people.verify_held(Enrolment.decode(disclosure.enrolment), event.number, request.time_ms)
        if event.fields["right"] != request.right.value:
            raise MessageInvalidError("event names another right than the request")
        self.exercised(request.right.value)
        if request.right is Right.OBJECT:
            self._split.objected(request.user_id, event.number, request.time_ms, str(event.fields.get("last", "")))
        self._objection(event, request)
        restrictions = self._obligations.restrictions
        if form < _TOLD:
            restrictions.recorded_older(request)
            self._report.older("objected")
            return form
        with check_of(CONSENT):
            lacks = restrictions.recorded(request, disclosure.owner_salts, max(self._policies.told, default=-1))
        if lacks is not None:
            self._lacks(CONSENT, event, (lacks,), _UNPROMISED)
        return form

    def objected_unread(self, event: Event) -> None:
        """OBJECTED whose payload has expired."""
        self._erasures.carried_out_unread(event)
        self.exercised(Right(str(event.fields["right"])).value)
        self._objection(event, None)
        self._obligations.restrictions.recorded_older(None)

    def _objection(self, event: Event, request: RightsRequest | None) -> None:
        self._names_somebody(event)
        with check_of(ERASURE):
            self.verify_form("notices" in event.fields)
            self._obligations.objected(event, request)

    def _names_somebody(self, event: Event) -> None:
        notices = event.fields.get("notices")
        self._report.believe_beside("notice_names", len(notices) if isinstance(notices, list) else 0)

    def accessed_unread(self, event: Event) -> None:
        """ACCESSED whose payload has expired."""
        self._erasures.carried_out_unread(event)
        self.exercised(Right.ACCESS.value)

    def accessed(self, event: Event) -> None:
        """ACCESSED."""
        self._report.rests(SIGNATURES, Basis.COUNTERSIGNED)
        before = self._erasures.requested(bytes.fromhex(str(event.fields["request"])))
        disclosure = self._erasures.disclosed(event, Right.ACCESS)
        if before:  # which an entry of the first form does not say of itself
            self._report.older("accessed")
        asked = RightsRequest.decode(disclosure.request).time_ms
        self.asked.taken(event.number, asked)
        self._people.verify_held(Enrolment.decode(disclosure.enrolment), event.number, asked)
        self.exercised(Right.ACCESS.value)

    def revoked(self, event: Event) -> None:
        """REVOKED: the enrolment authority's word that a person's key is nobody's any more."""
        self._report.rests(SIGNATURES, Basis.COUNTERSIGNED)
        trust = self._policies.trust
        revocation = Revocation.decode(trust.opening.open(event.payload, revoked_info(trust.service)))
        if revocation.digest.hex() != event.fields["statement"]:
            raise RecordMismatchError("event names another revocation than it discloses")
        self._people.revoked(revocation, int(str(event.fields["time"])), event.number)

    def finish(self) -> None:
        """At the end: who was not told of an erasure is not about to leave; what was asked at other times, or lacks."""
        self.asked.finish(self._report)
        lacking, self._lacking = self._lacking, []
        for one in lacking:
            if not all(may_be_gone(self._policies, epoch, one.event, self._report) for epoch in one.epochs):
                self._report.add(one.rule, GATEWAY, one.event, one.text)
        leaving = len(self.untold.keys() & set(self._policies.newest_parties()))
        if leaving:
            self._report.missing.append(Unchecked(ERASURE, GATEWAY, LEAVING.format(leaving)))

    def began(self, epoch: int, listed: tuple[str, ...]) -> None:
        """An epoch has begun whose document lists these parties: who is among them has not left."""
        self._obligations.told.epoch = epoch
        untold, self.untold = self.untold, {}
        for number in sorted({number for party, number in untold.items() if party in listed}):
            self._report.add(ERASURE, GATEWAY, number, "ERASED: a party that has not left was not told")
