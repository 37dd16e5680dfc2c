"""What an audit costs grows as what it reads does, and no faster: SQLite's steps are counted, and lines of Python."""

import sys
from collections.abc import Callable
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c3_deliveries import Deliveries
from auditor.checks.c3_links import Person
from auditor.checks.c6_consents import Consents
from auditor.checks.c6_objected import Objected
from auditor.checks.c7_completeness import Sets
from auditor.checks.c8_feeds import Feeds
from auditor.findings import Report
from auditor.policies import Policies
from proxid.anonymise.slotted.pool import SlotPool
from proxid.anonymise.slotted.types import SlotRecord, SlotSettings
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.pool import SplitPool
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import SplitRecord
from proxid.evidence.events import Event, EventType, encode_header
from proxid.protocol.consent import ConsentVector, Grant
from tests.unit.auditor.test_expired_events import trusted

DRAWS = Draws(bytes(32))


def lines(act: Callable[[], Any]) -> int:
    """Lines of Python that an act takes."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def evening(groups: int) -> int:
    """Steps of SQLite for so many groups, and an event about the feeds for every fourth."""
    sets, steps = Sets(), [0]

    def step() -> int:
        steps[0] += 1
        return 0

    sets._db.set_progress_handler(step, 16)
    feeds = Feeds(sets)
    for group in range(groups):
        sets.delivered((7, group, "acme"), 2 * group + 1)
        if group % 4 == 0:
            header = encode_header(feeds=["acme:0"], last=f"7/{group}/acme")
            feeds.state(Event(2 * group + 2, EventType.ERASED, bytes(16), header, b""))
    for group in range(groups):
        sets.released((7, group, "acme"), group + 1)
    report = Report()
    feeds.check(2 * groups, report)
    sets.close()
    assert report.violations == []
    return steps[0]


def test_groups_and_what_is_said_of_feeds_cost_what_there_is_of_them() -> None:
    assert evening(800) < 2.8 * evening(400)


def split(people: int) -> SplitPool:
    pool = SplitPool(SplitSettings(k=2), DRAWS)
    for number in range(people):
        pool.submit(SplitRecord(f"{number:064}".encode(), f"p{number}", "general|acme:alias", ("Home", "news"), ()))
    return pool


def slots(people: int) -> SlotPool:
    pool = SlotPool(SlotSettings(k=2, margin=1), 86_400.0, DRAWS.place)
    for number in range(people):
        record = SlotRecord(
            f"{number:064}".encode(), f"p{number}", True, "command|acme:alias", ("a", "b"), "", 60.0, 0.0
        )
        pool.submit(record)
    return pool


@pytest.mark.parametrize("made", [split, slots])
def test_what_somebody_takes_back_is_found_whatever_others_have_waiting(made: Callable[[int], Any]) -> None:
    few, many = made(4), made(400)
    assert lines(lambda: few.held("p1")) == lines(lambda: many.held("p1")) < 40
    assert len(many.held("p1")) == 1
    assert lines(lambda: few.withdraw("p1")) == lines(lambda: many.withdraw("p1")) < 60


def test_a_slot_that_ends_costs_what_waits_in_it() -> None:
    few, many = slots(4), slots(400)
    for pool in (few, many):
        late = SlotRecord(bytes(64), "late", True, "command|acme:alias", ("a", "b"), "", 1.0, 0.0)
        pool.submit(late._replace(time=-80_000.0))
    assert lines(lambda: few.close(-10_000.0)) == lines(lambda: many.close(-10_000.0))


def test_whoever_is_erased_takes_their_aliases_along_whatever_others_have() -> None:
    def aliases(people: int) -> Deliveries:
        found = Deliveries(*[type("Any", (), {"trust": None})()] * 3)
        for number in range(people):
            found.named(f"alias-{number}", ("acme", 7, f"p{number}"))
        return found

    few, many = aliases(4), aliases(400)
    assert lines(lambda: few.forget("p1")) == lines(lambda: many.forget("p1")) < 20


def test_whether_objections_are_heeded_costs_what_there_are_in_an_epoch() -> None:
    """Each epoch has one, and a request behind it."""

    def audited(epochs: int) -> int:
        asked: Any = SimpleNamespace(forwarded_at=int)
        made = {f"p{epoch}": [(0, 10 * epoch + 2, 0)] for epoch in range(epochs)}
        obligations: Any = SimpleNamespace(objections=made, sets=asked)
        nobody: Any = SimpleNamespace(last_of=lambda user, epoch: None, find=lambda prox_id: None)
        policies = Policies(trusted())
        policies.begins["gateway"] = [(10 * epoch + 1, epoch) for epoch in range(epochs)]
        objected = Objected(policies, nobody, obligations, Report())
        objected.received(0, "0", 0, nobody)

        def read() -> None:
            for epoch in range(epochs):
                objected.received(epoch, str(10 * epoch + 3), policies.trust.epochs.start(epoch) * 1000, nobody)

        return lines(read)

    assert audited(400) < 110 * audited(4)


def test_what_somebody_allows_is_found_whatever_they_chose_before() -> None:
    def chosen(epochs: int) -> Consents:
        found = Consents()
        for epoch in range(epochs):
            person: Any = Person("ann", b"", f"px{epoch}", epoch, True, b"", b"", "")
            for version in (1, 2):
                grants = (Grant("acme", ("general",), "alias"),)
                vector = ConsentVector("ann", "ms", epoch, version, "searches", grants)
                found.changed(person, vector, lambda *said: said[2], 2 * epoch + version)
        return found

    def asks(found: Consents, epoch: int) -> int:
        at = found.standing[f"px{epoch}"]
        assert found.allowed(at, ("acme", "general", "alias"), 1 << 20)
        return lines(lambda: found.allowed(at, ("acme", "general", "alias"), 1 << 20))

    assert asks(chosen(4), 3) == asks(chosen(400), 399) < 40
