"""Why groups were not delivered (check 7 of DESIGN 10.4): each reason is found again in the logs.

What the gateway carries out before it is recorded, an objection or an erasure, may come after what was dropped for it;
it has two epochs for that.
"""

import math
from bisect import bisect_right
from collections.abc import Callable
from operator import itemgetter
from typing import Final

from auditor.checks.c2_expiry import may_be_gone
from auditor.checks.c3_links import People
from auditor.checks.c6_consents import Consents, Standing
from auditor.checks.c6_sent import check_sent, name_of_person, names_of
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_entries import Dropped
from auditor.checks.c7_shown import entry
from auditor.checks.c8_obligations import Obligations
from auditor.checks.c8_told import NOTICE_SECONDS
from auditor.findings import COMPLETENESS, GATEWAY, Basis, Report, Unchecked
from auditor.policies import Policies
from proxid.crypto.sansig import SignedMessage
from proxid.evidence.events import ReleasedPayload

PATIENCE: Final = 2
"""Epochs that begin before what was said to be under way must have been recorded."""

_HIDDEN: Final = bytes(16)
_KEPT_BACK: Final = """
SELECT COUNT(*) FROM deliveries JOIN (
    SELECT party, MAX(epoch) AS newest FROM deliveries WHERE sent IS NOT NULL GROUP BY party
) USING (party) WHERE released IS NOT NULL AND COALESCE(sent, delivered, dropped) IS NULL AND newest - epoch >= :apart
"""


def patience(policies: Policies, epoch: int) -> float:
    """The gateway's event by which what was under way in an epoch is recorded; infinite if it has not come."""
    later = [number for number, begun in policies.begins[GATEWAY] if begun > epoch]
    return later[PATIENCE - 1] if len(later) >= PATIENCE else math.inf


class Drops:
    """Holds DROPPED against consents, objections, erasures, and what MS released."""

    def __init__(
        self, policies: Policies, people: People, consents: Callable[[], Consents], obligations: Obligations,
        sets: Sets, report: Report,
    ) -> None:  # fmt: skip
        self._policies = policies
        self._people = people
        self._consents = consents
        self._obligations = obligations
        self._sets = sets
        self._report = report

    def released(self, place: tuple[int, int], kind: str, audience: dict[str, str], payload: ReleasedPayload) -> None:
        """RELEASED of a group that holds: who is in it is kept until it is delivered.

        Args:
            audience: fidelity by party.
        """
        people = b"".join(name_of_person(prox) if prox else _HIDDEN for prox in payload.published)
        for party, fidelity in audience.items():
            self._sets.keep_people((*place, party), f"{kind}|{self._policies.naming(place[0], kind, fidelity)}", people)

    def portion(self, place: tuple[int, int], audience: dict[str, str], payload: ReleasedPayload) -> None:
        """RELEASED of entries that hold: whose each is, where it may have been dropped.

        Args:
            audience: fidelity by party.
        """
        for party, records, _ in payload.parties:
            named = (*place, party)
            self._sets.entries.holds(named)
            if self._sets.entries.is_needed(named, self._sets.is_delivered(named)):
                shown = [(data, prox) for data, prox in zip(records, payload.published, strict=True) if data]
                people = [
                    (entry(SignedMessage.decode(data)), name_of_person(prox) if prox else _HIDDEN)
                    for data, prox in shown
                ]
                grant = f"general|{self._policies.naming(place[0], 'general', audience[party])}"
                self._sets.entries.released(named, grant, people)

    def check(self) -> None:
        """At the end: every reason is one, or is said to be unchecked yet; and what was sent was allowed.

        What is wrong is so in every audit that goes on from here.
        """
        wrong = check_sent(self._sets, self._consents(), self._people, self._obligations, self._report)
        if invalid := self._sets.entries.invalid():
            text = f"{invalid} groups, portions or contents were dropped as invalid, and hold as the main service"
            what = "released them: it sent others than it logged, or the gateway kept them back"
            self._report.missing.append(Unchecked(COMPLETENESS, "", f"{text} {what}"))
        self._verify_sent()
        waiting, found = 0, self._sets.undecided()
        if not found:
            return
        by_name = {name_of_person(prox): prox for prox in self._consents().standing}
        for drop in found:
            held = self._holds(drop, by_name)
            if held is None and self._until(drop.event) == math.inf:
                waiting += 1
                continue
            if held and drop.which not in wrong:
                self._sets.decide(drop)
            elif not held:
                what = "an entry" if drop.id else "a group"
                text = f"DROPPED: {what} was dropped as {drop.reason}, and nothing in the logs says so"
                self._report.add(COMPLETENESS, GATEWAY, drop.event, text)
        if waiting:
            text = f"{waiting} groups were dropped for objections or erasures that are not recorded yet"
            self._report.missing.append(Unchecked(COMPLETENESS, GATEWAY, text))

    def _verify_sent(self) -> None:
        """What came for a party long before what it was sent was sent or dropped, too, unless it asked for less."""
        apart = 1 + math.ceil(NOTICE_SECONDS / self._policies.trust.epochs.seconds)
        if kept := self._sets.rows(_KEPT_BACK, {"apart": apart})[0][0]:
            text = f"{kept} groups, portions or contents wait for parties that were sent what is of days later"
            text += ": the gateway keeps them back, or the party passed them over"
            self._report.missing.append(Unchecked(COMPLETENESS, GATEWAY, text))

    def _until(self, event: int) -> float:
        begins = self._policies.begins[GATEWAY]
        at = bisect_right(begins, event, key=itemgetter(0)) + PATIENCE - 1
        return begins[at][0] if at < len(begins) else math.inf

    def _holds(self, drop: Dropped, by_name: dict[bytes, str]) -> bool | None:
        """Whether a reason is one; None if that may still turn out."""
        names = names_of(drop.people)
        hidden = any(name == _HIDDEN or name in self._people.gone for name in names)
        if hidden or may_be_gone(self._policies, drop.epoch, drop.event, self._report):
            # Whoever was erased may have been the reason; of whom links have expired the gateway knows no choice.
            self._report.rests(COMPLETENESS, Basis.UNREADABLE)
            return True
        if drop.reason == "erased":
            return None
        users = [self._consents().standing.get(by_name.get(name, ""), Standing()) for name in names]
        until = self._until(drop.event)
        objects = any(self._obligations.objects(at.user_id, drop.event, until) for at in users)
        if drop.reason == "objected":
            return objects or None
        if drop.reason in ("no_consent", "withdrawn"):
            kind, _, fidelity = drop.grant.partition("|")
            grant = (drop.party, kind, fidelity)
            return objects or any(not self._consents().allowed(at, grant, drop.event) for at in users)
        return drop.reason == "party_left"  # judged with the event
