"""Why requests never waited (check 7 of DESIGN 10.4): each reason is found again in the logs, or believed.

What a request said enters no evidence if it could not be filed, so that is believed and counted; so is of which type
a request was that the person's choice allows nobody (docs/adr/0023). Everything else is computed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from auditor.checks.c3_links import People
from auditor.checks.c5_groups import Groups
from auditor.checks.c5_places import SPENT
from auditor.checks.c6_service import Choice, ServiceConsents
from auditor.checks.c7_arrivals import Arrivals, ArrivalsState, received_within
from auditor.checks.c7_dropped import patience
from auditor.checks.c7_reasons import ACCESS, CHANGED, OVER, RECORDS, TEXTS, TOLD
from auditor.checks.c7_releases import Releases, ReleasesState
from auditor.checks.c8_obligations import Obligations
from auditor.event_log import form_of
from auditor.findings import COMPLETENESS, MAIN_SERVICE, Basis, Report, Unchecked
from auditor.policies import Policies
from auditor.skew import epoch_skew
from proxid.crypto.sansig import SignedMessage
from proxid.errors import GroupMismatchError, RecordMismatchError
from proxid.evidence.events import Event
from proxid.protocol import request
from proxid.protocol.consent import TYPES, audience

_NOT_OVER: Final = "SUPPRESSED: a request was withheld as of an epoch that was over, and it was not"
_PLACED: Final = frozenset({"location", "command"})


class Asked(NamedTuple):
    """A request that was received: what the records that come of it are compared with.

    Attributes:
        time_ms: of the request. access: it asks for what is held. choice: in effect when it was received; None if that
            cannot be read.
    """

    commit: bytes
    prox_id: str
    epoch: int
    time_ms: int
    access: bool
    choice: Choice | None


@dataclass(slots=True)
class Claim:
    """A request that was withheld on the gateway's word, which its log does not hold yet.

    Attributes:
        session: the request's, hexadecimal. again: whether something of the person's has waited since. believed: that
            it was withheld because the person's key was lost, as long as nothing says otherwise.
    """

    event: int
    prox_id: str
    epoch: int
    time_ms: int
    reason: str
    session: str
    again: bool = False
    believed: bool = False


class WithheldState(NamedTuple):
    """A `Withheld`, for storing."""

    asked: dict[str, Asked | None]
    claims: dict[str, list[Claim]]
    over: dict[int, int]
    releases: ReleasesState
    denied: set[int]
    arrivals: ArrivalsState


class Withheld:
    """What MS received, until it waits or is withheld."""

    def __init__(
        self, policies: Policies, people: People, consents: ServiceConsents, obligations: Obligations, groups: Groups,
        report: Report,
    ) -> None:  # fmt: skip
        self._policies, self.releases = policies, Releases(MAIN_SERVICE, policies.trust.floors.rollbacks)
        self._people = people
        self._consents = consents
        self._obligations = obligations
        self._groups = groups
        self._report = report
        self.arrivals = Arrivals(report)
        self._asked: dict[str, Asked | None] = {}
        self._claims: dict[str, list[Claim]] = {}
        """By PROX_ID."""
        self._over: dict[int, int] = {}
        """Epochs of which something was said to come after their end, and the event that said so first."""
        self._denied: set[int] = set()
        """Events that said so when it was not: in an audit that goes on from here, too."""
        self._predicates: dict[str, Callable[[Event, Asked], bool]] = {
            "no_consent": self._allows_nobody,
            CHANGED: self._has_changed,
            OVER: self._is_over,
            "unseasoned": self._is_unseasoned,
            SPENT: self._has_spent,
        }

    def received(self, session: str, signed: SignedMessage, event: Event) -> None:
        """RECEIVED; raises RecordMismatchError if its epoch was said to be over before."""
        blocks, header = signed.message.blocks, signed.header
        if len(blocks) != request.BLOCKS:
            return
        prox_id = blocks[request.USER].decode("utf-8", "replace")
        within = received_within(self._policies, header.epoch, header.time_ms)
        self.arrivals.received(session, within, event.number)
        choice = self._consents.of(prox_id, event.tags)
        forwarded = partial(self._obligations.sets.forwarded_at, session)
        self._consents.asked(prox_id, choice, forwarded, header.time_ms)
        self._asked[session] = Asked(
            blocks[request.COMMIT], prox_id, header.epoch, header.time_ms, request.asks_access(signed), choice,
        )  # fmt: skip
        if header.epoch in self._over and header.time_ms / 1000 < self._end(header.epoch):
            number = self._over.pop(header.epoch)
            raise RecordMismatchError(f"epoch goes on that was said to be over (leaf {number})")

    def received_unread(self, session: str) -> None:
        """RECEIVED that cannot be read."""
        self.arrivals.received(session)
        self._asked[session] = None

    def taken(self, session: str, event: int) -> Asked | None:
        """What is known of a request whose record waits now; None if it cannot be read.

        Raises:
            GroupMismatchError: it was never received, or asks for what is held.
        """
        if session not in self._asked:
            raise GroupMismatchError("a record waits whose request was not received, or that was withheld")
        asked = self._asked.pop(session)
        self.arrivals.taken(session, event)
        if asked is not None and asked.access:
            raise GroupMismatchError("a request to see what is held was taken for a question")
        for claim in self._claims.get(asked.prox_id, ()) if asked is not None else ():
            claim.again = True
        return asked

    def taken_unread(self, session: str, event: int) -> None:
        """A request's record waits now, and cannot be read."""
        self.arrivals.taken(session, event)
        self._asked.pop(session, None)

    def suppressed_unread(self, event: Event, session: str, reason: str) -> None:
        """SUPPRESSED that cannot be read; raises as `suppressed`."""
        self._withheld(event, session, reason)

    def _withheld(self, event: Event, session: str, reason: str) -> Asked | None:
        """What is known of what is withheld; raises RecordMismatchError if it was not received, or is taken up."""
        self.arrivals.withheld(event, session, reason)
        if session not in self._asked:
            raise RecordMismatchError("a request was withheld that was not received, or that had been taken up")
        return self._asked.pop(session)

    def suppressed(self, event: Event, session: str, reason: str) -> Asked | None:
        """SUPPRESSED of what never waited; what is known of it if it holds what would have waited (`RECORDS`).

        Raises:
            RecordMismatchError: the reason is none, or that of no request which was received.
        """
        form, asked = form_of(event), self._withheld(event, session, reason)
        self.releases.said("suppressed", form)
        if reason in TEXTS and (reason != "classifier_failed" or event.fields.get("pipeline")):
            # What read a request is named, or who asked it could open it to no avail.
            if not event.fields.get("pipeline"):
                self._report.older("pipeline")
            self.releases.said("pipeline", int(bool(event.fields.get("pipeline"))))
        self._read_by(str(event.fields.get("pipeline") or ""), asked, reason)
        if reason == SPENT:
            self.releases.said("places", int(bool(event.payload)))
            if not event.payload:
                self._report.older("places")
        if form > 1 and (reason in RECORDS or (reason == SPENT and event.payload)):
            return asked
        if asked is None:
            self._report.rests(COMPLETENESS, Basis.UNREADABLE)
        elif not self._holds(event, asked, reason):
            if form > 1:
                raise RecordMismatchError(f"a request was withheld as {reason}, and it was not")
            self._report.older("suppressed")
        return None

    def _read_by(self, pipeline: str, asked: Asked | None, reason: str) -> None:
        """What read a request is at hand: or nobody could judge it, once who asked it opens it."""
        classifier = self._policies.trust.classifier
        if classifier is None or pipeline in ("", classifier.version):
            return
        judge = None if asked is None else self._policies.of(asked.epoch)
        if reason != "unprocessable" or judge is None or judge.pipeline in ("", pipeline):
            self._report.counts["pipeline.unknown"] += 1

    def _holds(self, event: Event, asked: Asked, reason: str) -> bool:
        if reason == ACCESS or asked.access:
            return reason == ACCESS and asked.access
        if reason in self._predicates:
            return self._predicates[reason](event, asked)
        if reason in TEXTS:
            self._report.believe(COMPLETENESS, "texts")
        elif reason == "restricted" and self._obligations.restrictions.is_told(asked.prox_id):
            self._report.rests(COMPLETENESS, Basis.COUNTERSIGNED)
        elif reason in TOLD:
            claim = Claim(
                event.number, asked.prox_id, asked.epoch, asked.time_ms, reason, str(event.fields["session"])
            )  # fmt: skip
            self._claims.setdefault(asked.prox_id, []).append(claim)
        else:
            return False
        return True

    def _has_changed(self, _: Event, asked: Asked) -> bool:
        newest = self._consents.of(asked.prox_id, ())
        return asked.choice is None or (newest is not None and newest.version > asked.choice.version)

    def _is_over(self, event: Event, asked: Asked) -> bool:
        self.over(asked.epoch, event.number)
        return True

    def _is_unseasoned(self, _: Event, asked: Asked) -> bool:
        judge, person = self._policies.of(asked.epoch), self._people.of_prox(asked.prox_id)
        unseasoned = not person.seasoned or self._people.lost.has_two(asked.prox_id)
        return unseasoned and (judge is None or judge.split is not None)

    def _allows_nobody(self, event: Event, asked: Asked) -> bool:
        judge = self._policies.of(asked.epoch)
        if judge is None or asked.choice is None:
            self._report.rests(COMPLETENESS, Basis.UNREADABLE)
            return True
        grants = judge.bundles.get(asked.choice.bundle, ())
        allowed = [kind for kind in TYPES if audience(grants, kind)]
        if not allowed:
            return True
        kind = str(event.fields.get("kind", ""))
        if kind not in TYPES or kind in allowed:
            return False
        self._report.believe(COMPLETENESS, "type")
        return True

    def _has_spent(self, _: Event, asked: Asked) -> bool:
        """Of an event that does not hold what would have waited: from which place that was, nobody can tell."""
        judge = self._policies.of(asked.epoch)
        if judge is not None and judge.noise is None:
            return False
        places = self._groups.replay(asked.epoch).places.get(asked.prox_id, ())
        self.spent(asked, judge is not None and judge.noise is not None and len(places) >= judge.noise.places)
        return True

    def spent(self, asked: Asked, whole: bool) -> None:
        """A place was one too many. What was paid for and waited for nothing, a crash in between, is MS's word (0023).

        Args:
            whole: those that waited were as many as may be.
        """
        if self._policies.of(asked.epoch) is None or not _PLACED.isdisjoint(self._groups.replay(asked.epoch).blind):
            self._report.rests(COMPLETENESS, Basis.UNREADABLE)
        elif not whole:
            self._report.believe(COMPLETENESS, "places")

    def over(self, epoch: int, number: int) -> None:
        """An event says that an epoch is over."""
        self._over.setdefault(epoch, number)

    def _end(self, epoch: int) -> float:
        """Seconds: what was sent before is surely of before the end, by anybody's clock that is let pass."""
        return self._policies.trust.epochs.end(epoch) - 2 * epoch_skew(self._policies, epoch)

    def finish(self, now: float) -> None:
        """At the end: what was said to be over is, and what the gateway told MS is in its log.

        Args:
            now: Unix seconds up to which the logs were read.
        """
        self.arrivals.finish()
        self.releases.finish(self._report)
        self._denied |= {number for epoch, number in self._over.items() if now < self._end(epoch)}
        for number in self._denied:
            self._report.add(COMPLETENESS, MAIN_SERVICE, number, _NOT_OVER)
        waiting = [c for claims in self._claims.values() for c in claims if not self._is_told(c)]
        self._claims = {}
        under_way = 0
        for claim in waiting:
            over = patience(self._policies, claim.epoch) < math.inf
            if claim.believed and over:
                continue
            self._claims.setdefault(claim.prox_id, []).append(claim)
            if claim.believed:
                continue
            if over:
                text = f"a request was withheld as {claim.reason}, and the gateway's log knows of no such right"
                self._report.add(COMPLETENESS, MAIN_SERVICE, claim.event, f"SUPPRESSED: {text}")
            else:
                under_way += 1
        if under_way:
            text = f"{under_way} requests were withheld for objections or erasures that are not recorded yet"
            self._report.missing.append(Unchecked(COMPLETENESS, MAIN_SERVICE, text))

    def _is_told(self, claim: Claim) -> bool:
        if self._people.is_erased(claim.prox_id):
            return True
        user, restricted = self._people.user_of(claim.prox_id), claim.reason == "restricted"
        asked = (user, claim.session, claim.time_ms, claim.again, patience(self._policies, claim.epoch))
        told = restricted and self._obligations.objected_after(*asked)
        # From when on the main service was told that a key was lost, nobody says.
        lost = restricted and not told and not claim.again and self._people.lost.is_lost(claim.prox_id)
        if lost is not claim.believed:
            self._report.believe(COMPLETENESS, "lost", 1 if lost else -1)
            claim.believed = lost
        return told

    def state(self) -> WithheldState:
        """For storing."""
        own = (self._asked, self._claims, self._over, self.releases.state(), self._denied)
        return WithheldState(*own, self.arrivals.state())

    def restore(self, state: WithheldState) -> None:
        """Go on from a state."""
        self._asked, self._claims, self._over, releases, self._denied, arrivals = state
        self.releases.restore(releases)
        self.arrivals.restore(arrivals)
