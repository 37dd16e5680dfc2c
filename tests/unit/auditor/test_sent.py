"""What was SENT is judged by what everybody had chosen then: not by what came later, delivered or not (10.4 (6))."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c2_owners import Filing
from auditor.checks.c6_consents import Consents, Standing
from auditor.checks.c6_sent import name_of_person, tell
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_dropped import Drops
from auditor.checks.c7_shown import Shown
from auditor.checks.c8_obligations import Obligations
from auditor.findings import CONSENT, GATEWAY, MAIN_SERVICE, Report
from proxid.errors import ConsentError, RecordMismatchError
from proxid.evidence.events import Event, EventType, encode_header
from proxid.protocol.rights import Right
from tests.unit.auditor.test_expired_events import trusted

EPOCH, PARTY, GRANT = 7, "acme", ("acme", "general", "user_id")
GROUP = PORTION = (EPOCH, 3, PARTY)
NAMES = tuple(map(name_of_person, ("px1ann", "px1bob")))
P, Q, R = b"p" * 16, b"q" * 16, b"r" * 16
TAGS = (b"a" * 16, b"b" * 16, b"c" * 16)


class Audit:
    """Ann and Bob allow everything from event 1 on; what becomes of that is said by event numbers."""

    def __init__(self) -> None:
        self.sets, self.consents, self.report = Sets(), Consents(), Report()
        for user in ("ann", "bob"):
            at = Standing(user, EPOCH, 1, frozenset({GRANT}), taken=[(1, b"", frozenset({GRANT}), 0)])
            self.consents.standing[f"px1{user}"] = at
        people: Any = SimpleNamespace(
            gone=set(), of_prox=lambda prox: SimpleNamespace(user_id=prox.removeprefix("px1")), of_tag=lambda _: None
        )
        stub: Any = SimpleNamespace(begins={"gateway": []}, retention=lambda _: None, trust=trusted())
        erasures: Any = SimpleNamespace(erased={}, epochs={})
        self.filing = {
            log: Filing(log, people, erasures, self.sets.filed, self.report) for log in (GATEWAY, MAIN_SERVICE)
        }
        self.people = people
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

    def filed(self, log: str, *tags: bytes) -> None:
        """What a log says of whose the portion is, all of which nobody can read."""
        said: dict[str, Any] = {"epoch": EPOCH, "group": PORTION[1]}
        if log == GATEWAY:
            event = Event(30, EventType.DELIVERED, bytes(16), encode_header(party=PARTY, **said), b"", 0, (b"", *tags))
        else:
            header = encode_header(audience=f"general|{PARTY}:user_id", **said)
            event = Event(3, EventType.RELEASED, bytes(16), header, b"", 0, (b"", *tags, *tags))
        self.filing[log].verify(event)

    def tells(self, erased: int) -> list[tuple[int, str]]:
        """Whom an erasure of Ann's should have told."""
        tell(self.sets, self.people, {TAGS[0]: erased}, self.obligations, self.report)
        return [(one.event, one.party) for one in self.obligations.told.missing]

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


@pytest.mark.parametrize("first", [GATEWAY, MAIN_SERVICE])
@pytest.mark.parametrize(("erased", "told", "found"), [(20, False, 1), (20, True, 0), (40, False, 1), (9, False, 0)])
def test_who_was_sent_an_entry_that_was_cut_before_the_others_were_delivered_is_told_of_an_erasure(
    audit: Audit, erased: int, told: bool, found: int, first: str
) -> None:
    """Nobody can read of whom it was: but all that was released was sent, and the others were delivered."""
    audit.obligations.told.named[erased] = frozenset({PARTY} if told else ())
    audit.portion(10)
    audit.cut(19, "erased")
    for log in (GATEWAY, MAIN_SERVICE) if first == GATEWAY else (MAIN_SERVICE, GATEWAY):
        if log == GATEWAY:
            audit.filed(GATEWAY, TAGS[1])
            audit.delivered(30)
        else:
            audit.filed(MAIN_SERVICE, *TAGS[:2])
            audit.sets.released(PORTION, 3)
            audit.sets.shown.released(PORTION, Shown({Q: Q * 2}, 1))
    assert audit.tells(erased) == [(erased, PARTY)] * found


def test_of_whom_a_portion_was_sent_that_had_been_cut_before_nobody_can_read(audit: Audit) -> None:
    """One of two who were erased was dropped before it was sent: that one's erasure need tell nobody."""
    audit.obligations.told.named[20] = frozenset()
    audit.cut(5, "erased", (R,), 2)
    audit.portion(10)
    audit.cut(19, "erased")
    audit.filed(GATEWAY, TAGS[1])
    audit.delivered(30)
    audit.filed(MAIN_SERVICE, *TAGS)
    audit.sets.released(PORTION, 3)
    audit.sets.shown.released(PORTION, Shown({Q: Q * 2}, 2))
    assert audit.tells(20) == []


def test_a_portion_that_was_delivered_whole_says_nothing_of_who_is_erased_later(audit: Audit) -> None:
    audit.obligations.told.named[40] = frozenset()
    audit.portion(10)
    audit.filed(GATEWAY, *TAGS[:2])
    audit.sets.delivered(PORTION, 30)
    audit.sets.shown.delivered(PORTION, Shown({P: P * 2, Q: Q * 2}))
    audit.filed(MAIN_SERVICE, *TAGS[:2])
    audit.sets.released(PORTION, 3)
    audit.sets.shown.released(PORTION, Shown({P: P * 2, Q: Q * 2}))
    assert audit.tells(40) == []  # what was acknowledged is held against it when it is recorded
