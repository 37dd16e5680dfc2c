"""Rights and choices are of the time at which they are carried out, as far as honest services leave it open."""

import pytest

from auditor.checks.c3_asked import Asked
from auditor.findings import Report

NOW = 1_796_000_000 // 3600 * 3600
HOUR = 3600


def asked() -> Asked:
    return Asked(lambda: 120.0)


def doubted(found: Asked) -> bool:
    again, report = asked(), Report()
    again.restore(found.state())
    again.finish(report)
    return bool(report.missing)


def answered(found: Asked, *times: int, event: int = 1) -> Asked:
    for time in times:
        found.answered(1000 * time, event)
    return found


@pytest.mark.parametrize(("late", "wrong"), [(-HOUR, False), (0, False), (HOUR, False), (HOUR + 1, True)])
def test_what_is_recorded_as_it_is_taken_is_of_then(late: int, wrong: bool) -> None:
    found = answered(asked(), NOW)
    found.taken(2, 1000 * (NOW - late))
    assert doubted(found) is wrong


@pytest.mark.parametrize(("hours", "wrong"), [((), False), ((30,), False), ((2, 30), False), ((2, 3, 30), True)])
def test_what_is_carried_out_later_was_not_kept_back_while_people_were_answered(
    hours: tuple[int, ...], wrong: bool
) -> None:
    """Whoever was away is back in an hour or two."""
    found = answered(asked(), NOW, *(NOW + hour * HOUR for hour in hours))
    found.carried_out(2, 1000 * NOW)
    assert doubted(found) is wrong


def test_hours_of_before_say_nothing() -> None:
    found = answered(asked(), *(NOW - hour * HOUR for hour in range(50, 0, -1)))
    found.carried_out(2, 1000 * NOW)
    assert not doubted(found)


@pytest.mark.parametrize("later", [Asked.taken, Asked.carried_out])
@pytest.mark.parametrize(("early", "wrong"), [(HOUR, False), (HOUR + 1, True)])
def test_what_is_asked_next_shows_that_its_time_had_not_come(later: object, early: int, wrong: bool) -> None:
    found = asked()
    getattr(found, later.__name__)(5, 1000 * (NOW + early))  # type: ignore[attr-defined]
    answered(found, NOW, event=4)  # which was forwarded before
    assert not doubted(found)
    answered(found, NOW, event=6)
    assert doubted(found) is wrong
    answered(found, NOW, event=7)
    assert doubted(found) is wrong
