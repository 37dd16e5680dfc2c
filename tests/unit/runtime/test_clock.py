"""When a service relies on its clock (DESIGN 4.3): moved clocks, nothing sleeps."""

import math

import pytest

from proxid.errors import ClockError
from proxid.runtime.clock import ALONE_SECONDS, Clocks, ClockWatch, Doubt, uptime

DAY = 86_400.0
SKEW = 120.0


class Host:
    """A machine: its clocks, and the other side's as it hears of it."""

    def __init__(self, wrong: float = 0.0) -> None:
        self.truth, self.set, self.other = 20_000 * DAY, wrong, 0.0
        self.start = self.truth - 500.0
        self.watch = ClockWatch(Clocks(lambda: self.truth + self.set, lambda: self.truth - self.start), SKEW)

    def hear(self) -> None:
        self.watch.heard(self.watch.offset_of(int((self.truth + self.other) * 1000)), self.watch.monotonic)

    def pass_time(self, seconds: float, hearing: bool = True) -> Doubt | None:
        """What is made of the clock at the end; time passes in steps, as a service looks."""
        doubt = self.watch.doubt()
        for _ in range(math.ceil(seconds / 600.0)):
            self.truth += min(600.0, seconds)
            if hearing:
                self.hear()
            doubt = self.watch.doubt()
        return doubt


def test_right_clock_is_relied_on() -> None:
    host = Host()
    assert host.watch.doubt() is None
    host.hear()
    assert host.pass_time(3 * DAY) is None


@pytest.mark.parametrize("step", [DAY, -DAY, 400 * DAY, 121.0, -121.0, math.nan])
@pytest.mark.parametrize("hearing", [True, False])
def test_jump_is_doubted_until_it_is_taken_back(step: float, hearing: bool) -> None:
    host = Host()
    if hearing:
        host.hear()
    host.set = step
    assert host.watch.doubt() is (Doubt.DIFFERS if hearing else Doubt.JUMPED)
    with pytest.raises(ClockError):
        host.watch.require()
    host.truth += 6.0
    host.set = 0.0
    assert host.watch.doubt() is None


def test_small_steps_are_no_jump_and_many_are() -> None:
    host = Host()
    for step in (60.0, 119.0, -119.0):
        host.set = step
        assert host.watch.doubt() is None
    host.set = 240.0
    assert host.watch.doubt() is Doubt.JUMPED


def test_wrong_at_the_start_is_seen_by_the_others_time_and_set_right() -> None:
    host = Host(wrong=DAY)
    assert not host.watch.confirmed()
    host.hear()
    assert host.watch.doubt() is Doubt.DIFFERS
    host.truth, host.set = host.truth + 60.0, 0.0
    host.hear()
    assert host.watch.doubt() is None


def test_both_that_jump_alike_do_not_convince_each_other() -> None:
    """Two services on one machine."""
    host = Host()
    host.hear()
    host.set = host.other = DAY
    host.hear()
    assert host.watch.doubt() is Doubt.JUMPED
    host.set = host.other = 0.0
    host.hear()
    assert host.watch.doubt() is None


def test_other_sides_jump_is_doubted_here_too_until_it_is_over() -> None:
    host = Host()
    host.hear()
    host.other = -DAY
    host.hear()
    assert host.watch.doubt() is Doubt.DIFFERS
    host.other = 0.0
    host.hear()
    assert host.watch.doubt() is None


def test_steady_for_an_hour_is_believed_without_the_other_side() -> None:
    host = Host()
    assert not host.watch.alone()
    host.pass_time(ALONE_SECONDS - 600.0, hearing=False)
    assert not host.watch.alone()
    host.pass_time(600.0, hearing=False)
    assert host.watch.alone()


def test_jump_starts_the_hour_anew() -> None:
    host = Host()
    host.pass_time(2 * ALONE_SECONDS, hearing=False)
    host.set = DAY
    assert host.watch.doubt() is Doubt.JUMPED
    assert host.pass_time(ALONE_SECONDS - 600.0, hearing=False) is Doubt.JUMPED
    assert host.pass_time(1200.0, hearing=False) is None
    assert host.watch.alone()


def test_silence_of_an_hour_lets_the_others_time_go() -> None:
    host = Host()
    host.other = DAY
    host.hear()
    assert host.pass_time(ALONE_SECONDS - 600.0, hearing=False) is Doubt.DIFFERS
    assert host.pass_time(1200.0, hearing=False) is None
    assert host.watch.alone()


def test_away_for_26_hours_is_no_jump() -> None:
    host = Host()
    host.hear()
    host.pass_time(26 * 3600.0, hearing=False)
    host.hear()
    assert host.watch.doubt() is None
    assert host.watch.confirmed()


def test_what_was_heard_before_the_machine_started_is_not_taken() -> None:
    host = Host()
    host.watch.heard(0.0, host.watch.monotonic + 1.0)
    assert host.watch.doubt() is None
    assert not host.watch.confirmed()


def test_monotonic_clock_counts_on() -> None:
    assert 0 < uptime() <= uptime()


def test_where_both_clocks_were_set_an_hour_tells_that_they_are_right() -> None:
    """It began by a wrong clock, and heard the other side first when that was wrong: neither is known to have stood."""
    host = Host(150.0)
    host.other = -3_600.0
    host.hear()
    host.set = host.other = 0.0
    assert host.pass_time(ALONE_SECONDS / 2) is Doubt.JUMPED
    assert host.pass_time(ALONE_SECONDS) is None
