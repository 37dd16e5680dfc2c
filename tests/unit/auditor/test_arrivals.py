"""Requests are taken up as they came (check 7): within two batches in any order, and not beyond."""

import random
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c7_arrivals import BOUND, Arrivals, Within
from auditor.checks.c7_releases import LESS
from auditor.findings import COMPLETENESS, Report, Verdict
from auditor.plain import dumps, loads
from main_service.backlog import Backlog
from proxid.errors import OverloadedError
from proxid.evidence.events import Event, EventType, encode_header
from proxid.protocol.request import ANSWERED, HELD
from tests.unit.auditor.test_expired_events import gone, service


def names(count: int) -> list[str]:
    return [f"{number:032x}" for number in range(count)]


@pytest.mark.parametrize("batch", [1, 8, 128])
def test_batches_in_any_order_with_others_that_are_withheld_at_once_are_honest(batch: int) -> None:
    report, source = Report(), random.Random(batch)
    arrivals, waiting = Arrivals(report), list[str]()
    for name in names(5000):
        arrivals.received(name)
        if source.random() < 0.5:
            arrivals.ended(name, 1)
            continue
        waiting.append(name)
        if source.random() < 0.01:  # the service was away, and a backlog is worked off
            while waiting:
                taken, waiting = waiting[:batch], waiting[batch:]
                for one in source.sample(taken, len(taken)):
                    arrivals.taken(one, 1)
    arrivals.finish()
    assert report.violations == []
    assert (report.believed.get("order", 0) > 0) == (batch > 1)


@pytest.mark.parametrize("late", [True, False])
def test_who_is_held_back_beyond_that_is_named(late: bool) -> None:
    report = Report()
    arrivals = Arrivals(report)
    first, *others = names(BOUND + 3)
    arrivals.received(first)
    for name in others:
        arrivals.received(name)
        arrivals.taken(name, 1)
        state = type(arrivals.state())
        arrivals.restore(loads(state, dumps(state, arrivals.state())))
    if late:
        arrivals.taken(first, 9)
    arrivals.finish()
    assert [(v.rule, v.event) for v in report.violations] == [(COMPLETENESS, 9 * late)]


@pytest.mark.parametrize("how", ["gone", "ended"])
def test_nobody_waits_for_who_ends_without_a_turn(how: str) -> None:
    """Whenever that is said: what waits for nothing gives nobody time."""
    report = Report()
    arrivals = Arrivals(report)
    *nothing, held = names(BOUND + 1)
    others = [f"other {number}" for number in range(BOUND + 1)]
    for name in (*nothing, held):
        arrivals.received(name)
    for name in nothing:
        getattr(arrivals, how)(name, 1)
    for name in others:
        arrivals.received(name)
        arrivals.taken(name, 2)
    arrivals.taken(held, 9)
    assert (COMPLETENESS, 9) in [(v.rule, v.event) for v in report.violations]


def test_who_is_erased_in_the_queue_delays_nobody() -> None:
    report = Report()
    arrivals = Arrivals(report)
    first, *erased = names(3 * BOUND)
    for name in (first, *erased):
        arrivals.received(name)
    for name in erased:
        arrivals.gone(name, 1)
    arrivals.taken(first, 2)
    arrivals.finish()
    assert report.violations == []


def within(seconds: float, skew: float = 120.0) -> Within:
    return Within(int(1000 * (seconds - skew)), int(1000 * (seconds + skew + ANSWERED)))


LATE = 2 * 120.0 + ANSWERED + HELD + 60.0


@pytest.mark.parametrize(
    ("times", "verdict"),
    [
        ([0.0, LATE, LATE + 900.0, LATE + 1800.0], Verdict.VIOLATION),
        ([0.0, LATE - 1.0, LATE, LATE], Verdict.CLEAN),
        ([0.0, LATE + 7200.0, LATE + 7201.0], Verdict.UNCHECKED),
    ],
)
def test_nothing_is_received_long_after_what_waits(times: list[float], verdict: Verdict) -> None:
    report = Report()
    arrivals = Arrivals(report)
    arrivals.began(says=True)
    for number, seconds in enumerate(times):
        arrivals.received(f"{number}", within(seconds), number)
        state = type(arrivals.state())
        arrivals.restore(loads(state, dumps(state, arrivals.state())))
    for number in range(len(times)):
        arrivals.taken(f"{number}", 99)
    arrivals.finish()
    assert report.verdict is verdict
    assert len(report.violations) == (verdict is Verdict.VIOLATION)


@pytest.mark.parametrize("tick", [True, False])
def test_an_epoch_that_does_not_say_that_it_takes_nothing_then_accuses_nobody(tick: bool) -> None:
    """An earlier release answered people for as long as it could not file what they had asked."""
    report = Report()
    arrivals = Arrivals(report)
    arrivals.received("hidden")
    arrivals.received("held", within(0.0), 1)
    arrivals.taken("hidden", 2)
    for number in range(4):
        if tick:
            arrivals.ticked(3_600_000 * (number + 1), number)
        else:
            arrivals.received(f"{number}", within(LATE + 900.0 * number), number)
    arrivals.taken("held", 9)
    arrivals.finish()
    assert report.violations == []
    assert report.verdict is Verdict.UNCHECKED
    assert report.counts["older.held"] == 1


def test_who_is_held_back_on_into_an_epoch_that_says_it_is_named() -> None:
    report = Report()
    arrivals = Arrivals(report)
    arrivals.received("held", within(0.0), 1)
    for number, seconds in enumerate([LATE, LATE + 900.0, LATE + 1800.0, LATE + 2700.0]):
        if number == 2:
            arrivals.began(says=True)
            assert report.violations == []
        arrivals.received(f"{number}", within(seconds), number)
        state = type(arrivals.state())
        arrivals.restore(loads(state, dumps(state, arrivals.state())))
    assert [v.event for v in report.violations] == [3]


def opening(number: int, **fields: Any) -> Event:
    """EPOCH_OPENED, whose payload has expired."""
    return gone(number, EventType.EPOCH_OPENED, encode_header(epoch=number, **fields))


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ([{}, {}], []),
        ([{}, {"held": int(HELD)}], []),
        ([{"held": 3600}], ["epoch began with another time for which what was answered may wait"]),
        ([{"held": int(HELD)}, {}], []),
        ([{"held": int(HELD)}, {}, {"held": int(HELD)}, {}] * 2, [LESS]),
    ],
)
def test_an_epoch_says_for_how_long_what_was_answered_may_wait(said: list[dict[str, Any]], found: list[str]) -> None:
    _, report = service(*(opening(number, **fields) for number, fields in enumerate(said, 1)))
    assert [v.text.partition(": ")[2] for v in report.violations if v.rule == COMPLETENESS] == found


def test_no_two_ticks_come_while_one_waits() -> None:
    report = Report()
    arrivals = Arrivals(report)
    arrivals.began(says=True)
    arrivals.received("hidden")
    arrivals.received("held", within(0.0), 1)
    arrivals.taken("hidden", 2)
    arrivals.ticked(3_600_000, 3)
    arrivals.ticked(7_200_000, 4)
    arrivals.ticked(10_800_000, 5)
    assert [v.event for v in report.violations] == [4]


@pytest.mark.parametrize("seed", range(20))
async def test_a_service_that_heeds_what_waits_is_accused_by_no_clock(seed: int) -> None:
    """Devices' clocks differ by the skew, answers take minutes, and its clock is set while it files nothing."""
    source, report, waiting = random.Random(seed), Report(), list[SimpleNamespace]()
    arrivals, now, offset = Arrivals(report), 100_000.0, 0.0
    arrivals.began(says=True)

    async def pending(_: int) -> list[SimpleNamespace]:
        return waiting[:1]

    watch: Any = SimpleNamespace(wall=lambda: now + offset)
    store: Any = SimpleNamespace(pending=pending)
    backlog, refused = Backlog(store, watch), 0
    for number in range(3000):
        now += source.expovariate(1 / 20)
        watch.monotonic = now
        if source.random() < 0.01:
            now += source.uniform(0, 20_000)
        if source.random() < 0.01:
            offset = source.uniform(-5000, 5000)
        if source.random() < 0.02:
            for one in waiting:
                arrivals.taken(one.name, number)
            waiting.clear()
        try:
            await backlog.require()
        except OverloadedError:
            refused += 1
            continue
        shown = now + offset + source.uniform(-120, 120)
        time_ms = int(1000 * (now + offset + source.uniform(0, 60)))
        arrivals.received(f"{number}", within(shown), number)
        waiting.append(SimpleNamespace(name=f"{number}", session=number, time_ms=time_ms))
    arrivals.finish()
    assert refused
    assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)


async def test_what_waits_by_a_clock_that_was_set_back_waits_too_long_all_the_same() -> None:
    """It was received two hours from now, says the clock; time passes as ever."""
    now, first = 100_000.0, SimpleNamespace(session=1, time_ms=107_200_000)

    async def pending(_: int) -> list[SimpleNamespace]:
        return [first]

    store: Any = SimpleNamespace(pending=pending)
    watch: Any = SimpleNamespace(wall=lambda: now, monotonic=now)
    backlog = Backlog(store, watch)
    for _ in range(int(HELD) // 10):
        await backlog.require()
        now = watch.monotonic = now + 10
    watch.monotonic = now = now + 10
    with pytest.raises(OverloadedError):
        await backlog.require()
    first = SimpleNamespace(session=2, time_ms=107_200_000)
    await backlog.require()


class OfEachOther:
    """What `Arrivals` says of the order, word by word: who goes lets everybody behind it come one earlier."""

    def __init__(self) -> None:
        self.open: dict[str, int] = {}
        self.taken, self.late = 0, 0

    def received(self, session: str) -> None:
        self.open[session] = self.taken + len(self.open)

    def gone(self, session: str) -> None:
        behind = [*self.open][[*self.open].index(session) + 1 :]
        self.late += self.taken - self.open.pop(session) > BOUND
        for one in behind:
            self.open[one] -= 1

    def take(self, session: str) -> None:
        self.late += self.taken - self.open.pop(session) > BOUND
        self.taken += 1


@pytest.mark.parametrize("seed", range(2))
def test_whoever_goes_lets_all_behind_come_earlier(seed: int) -> None:
    source, report, reference = random.Random(seed), Report(), OfEachOther()
    arrivals, kept = Arrivals(report), list[str]()
    for name in names(3000):
        arrivals.received(name)
        reference.received(name)
        kept.append(name)
        while len(kept) > 600 or (kept and source.random() < 0.4):
            one = kept.pop(source.choice((0, -1, source.randrange(len(kept)))))
            if source.random() < 0.5:
                arrivals.gone(one, 1)
                reference.gone(one)
            else:
                arrivals.taken(one, 1)
                reference.take(one)
        if source.random() < 0.01:
            again = Arrivals(report)
            again.restore(loads(type(arrivals.state()), dumps(type(arrivals.state()), arrivals.state())))
            arrivals = again
    assert len(report.violations) == reference.late > 0
