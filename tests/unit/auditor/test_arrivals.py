"""Requests are taken up as they came (check 7): within two batches in any order, and not beyond."""

import random

import pytest

from auditor.checks.c7_arrivals import BOUND, Arrivals
from auditor.findings import COMPLETENESS, Report
from auditor.plain import dumps, loads


def names(count: int) -> list[str]:
    return [f"{number:032x}" for number in range(count)]


@pytest.mark.parametrize("batch", [1, 8, 128])
def test_batches_in_any_order_with_others_that_are_withheld_at_once_are_honest(batch: int) -> None:
    report, source = Report(), random.Random(batch)
    arrivals, waiting = Arrivals(report), list[str]()
    for name in names(5000):
        arrivals.received(name)
        if source.random() < 0.5:
            arrivals.gone(name)
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
