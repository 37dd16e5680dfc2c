"""A client asks no more of an overloaded service than a little over what it takes; and all of one that is not."""

import random

import pytest

from proxid.runtime.transport.throttle import Throttle


def asked(throttle: Throttle, begin: int, seconds: int, rate: int, capacity: int) -> tuple[list[int], list[int]]:
    """By second: calls sent, calls taken."""
    sent, taken = [0] * seconds, [0] * seconds
    for second in range(seconds):
        for number in range(rate):
            now = begin + second + number / rate
            if throttle.admits(now):
                sent[second] += 1
                # A service that takes calls evenly over the second.
                fits = taken[second] < capacity * (number + 1) / rate
                taken[second] += fits
                throttle.ended(now, fits)
    return sent, taken


@pytest.mark.parametrize("rate", [300, 1000])
def test_of_too_much_it_sends_what_is_taken_and_a_little_more(rate: int) -> None:
    throttle = Throttle(random.Random(1).random)
    sent, taken = asked(throttle, 1000, 12, rate, 100)
    assert max(sent[4:]) <= 200 and min(taken[4:]) >= 90
    sent, taken = asked(throttle, 1012, 11, 50, 100)
    assert sent[8:] == [50] * 3 == taken[8:]


def test_what_is_taken_is_never_throttled_nor_are_the_first_refusals_of_somebody_who_asks_seldom() -> None:
    throttle = Throttle(lambda: 0.0)
    sent, _ = asked(throttle, 0, 10, 200, 1000)
    assert sent == [200] * 10
    seldom = Throttle(lambda: 0.0)
    for second in range(20):
        assert seldom.admits(second)
        seldom.ended(second, False)
