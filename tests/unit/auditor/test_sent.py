"""What was SENT is judged by what everybody had chosen then: not by what came later, delivered or not (10.4 (6))."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c6_consents import Consents, Standing
from auditor.checks.c6_sent import name_of_person
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_dropped import Drops
from auditor.checks.c7_shown import Shown
from auditor.checks.c8_obligations import Obligations
from auditor.findings import CONSENT, Report
from proxid.errors import ConsentError, RecordMismatchError
from proxid.evidence.events import Event, EventType, encode_header
from proxid.protocol.rights import Right

EPOCH, PARTY, GRANT = 7, "acme", ("acme", "general", "user_id")
GROUP = PORTION = (EPOCH, 3, PARTY)
NAMES = tuple(map(name_of_person, ("px1ann", "px1bob")))
P, Q = b"p" * 16, b"q" * 16


class Audit:
    """Ann and Bob allow everything from event 1 on; what becomes of that is said by event numbers."""

    def __init__(self) -> None:
        self.sets, self.consents, self.report = Sets(), Consents(), Report()
        for user in ("ann", "bob"):
            at = Standing(user, EPOCH, 1, frozenset({GRANT}), taken=[(1, b"", frozenset({GRANT}), 0)])
            self.consents.standing[f"px1{user}"] = at
        people: Any = SimpleNamespace(
            gone=set(), of_prox=lambda prox: SimpleNamespace(user_id=prox.removeprefix("px1"))
        )
        stub: Any = SimpleNamespace(begins={"gateway": []})
        self.obligations = Obligations(stub, people, self.sets)
        self.drops = Drops(stub, people, lambda: self.consents, self.obligations, self.sets, self.report)

    def objects(self, begun: int, ended: int = 0) -> None:
        for number, right in ((begun, Right.OBJECT), (ended, Right.RESUME)):
            event = Event(number, EventType.OBJECTED, bytes(16), encode_header(notices=[]), b"")
            if number:
                request: Any = SimpleNamespace(right=right, user_id="ann", time_ms=1000)
                self.obligations.objected(event, request)

    def withdraws(self, event: int) -> None:
        self.consents.standing["px1ann"].taken.append((event, b"", frozenset(), 0))

    def group(self, sent: int) -> None:
        self.sets.released(GROUP, 1)
        self.sets.keep_people(GROUP, "general|user_id", b"".join(NAMES))
        self.sets.sent(GROUP, sent)

    def portion(self, sent: int) -> None:
        """Ann's entry is P, Bob's Q."""
        self.sets.sent(PORTION, sent)
        self.sets.shown.sent(PORTION, [P.hex(), Q.hex()])

    def cut(self, event: int, reason: str = "withdrawn", ids: Sequence[bytes] = (P,), left: int = 1) -> None:
        self.sets.entries.dropped(PORTION, [one.hex() for one in ids], reason, event)
        self.sets.shown.dropped(PORTION, [one.hex() for one in ids], left)

    def released(self) -> None:
        self.sets.released(PORTION, 1)
        self.sets.shown.released(PORTION, Shown({P: P * 2, Q: Q * 2}))
        self.sets.entries.released(PORTION, "general|user_id", zip((P, Q), NAMES, strict=True))

    def delivered(self, event: int) -> None:
        self.sets.delivered(PORTION, event)
        self.sets.shown.delivered(PORTION, Shown({Q: Q * 2}))

    def found(self) -> list[tuple[int, int]]:
        """Check and event of what this audit finds, and then another that goes on from it."""
        self.drops.check()
        first = [(v.rule, v.event) for v in self.report.violations]
        self.report.violations.clear()
        self.drops.check()
        assert first == [(v.rule, v.event) for v in self.report.violations]
        return first


@pytest.fixture
def audit() -> Iterator[Audit]:
    found = Audit()
    yield found
    found.sets.close()


OBJECTIONS = [((20, 0), []), ((20, 25), []), ((5, 8), []), ((5, 0), [(CONSENT, 10)]), ((5, 12), [(CONSENT, 10)])]


@pytest.mark.parametrize(("objection", "found"), OBJECTIONS)
@pytest.mark.parametrize("dropped", [False, True])
def test_an_objection_counts_from_when_it_is_recorded_until_it_is_taken_back(
    audit: Audit, objection: tuple[int, int], found: list[tuple[int, int]], dropped: bool
) -> None:
    audit.objects(*objection)
    audit.group(10)
    if dropped:
        audit.sets.dropped(GROUP, "objected", 30)
    assert audit.found() == found


@pytest.mark.parametrize(("objection", "found"), OBJECTIONS[1:3] + OBJECTIONS[4:])
def test_so_it_does_of_what_is_acknowledged_when_it_was_taken_back(
    audit: Audit, objection: tuple[int, int], found: list[tuple[int, int]]
) -> None:
    audit.objects(*objection)
    delivered = Event(30, EventType.DELIVERED, bytes(16), encode_header(epoch=EPOCH, group=3, party=PARTY, v=2), b"")
    if not found:
        audit.obligations.delivered(delivered, ["px1ann"], 10)
    else:
        with pytest.raises(ConsentError):
            audit.obligations.delivered(delivered, ["px1ann"], 10)


@pytest.mark.parametrize("withdrawn", [5, 15])
@pytest.mark.parametrize("acknowledged", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_an_entry_that_was_sent_and_dropped_is_judged_although_the_others_were_delivered(
    audit: Audit, withdrawn: int, acknowledged: bool, late: bool
) -> None:
    """Whichever log is read first: an audit that goes on from a state may have read the release before."""
    audit.withdraws(withdrawn)
    if not late:
        audit.released()
    audit.portion(10)
    audit.cut(20)
    if acknowledged:
        audit.delivered(30)
    if late:
        audit.released()
    assert audit.found() == ([(CONSENT, 10)] if withdrawn == 5 else [])


def test_what_was_dropped_is_not_sent_any_more(audit: Audit) -> None:
    audit.sets.dropped(GROUP, "withdrawn", 5)
    with pytest.raises(RecordMismatchError):
        audit.sets.sent(GROUP, 10)
    audit.cut(5)
    with pytest.raises(RecordMismatchError):
        audit.sets.shown.sent(PORTION, [P.hex(), Q.hex()])


def test_what_holds_and_was_sent_and_not_acknowledged_is_judged_entry_by_entry(audit: Audit) -> None:
    audit.released()
    audit.sets.entries.holds(PORTION)
    audit.withdraws(5)
    audit.portion(10)
    assert audit.found() == [(CONSENT, 10)]


def test_contents_that_hold_and_were_sent_and_not_acknowledged_accuse_nobody(audit: Audit) -> None:
    named = (1, "contents-1", "acme")
    audit.sets.released(named, 1)
    audit.sets.entries.holds(named)
    audit.sets.sent(named, 10)
    assert audit.found() == []


@pytest.mark.parametrize("objection", [20, 40])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("told", [False, True])
def test_who_was_sent_an_entry_that_was_cut_before_the_others_were_delivered_is_told_of_an_objection(
    audit: Audit, told: bool, late: bool, objection: int
) -> None:
    """It is cut for the objection, or for a withdrawal before it."""
    audit.withdraws(15)
    if not late:
        audit.released()
    audit.portion(10)
    audit.objects(objection)
    audit.obligations.told.named[objection] = frozenset({PARTY} if told else ())
    audit.cut(objection + 1 if objection == 20 else 16)
    audit.delivered(30)
    if late:
        audit.released()
    assert audit.found() == []
    assert [(one.event, one.party) for one in audit.obligations.told.missing] == [(objection, PARTY)] * (not told)
