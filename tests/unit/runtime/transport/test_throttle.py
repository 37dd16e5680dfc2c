"""A client asks no more of an overloaded service than a little over what it takes; and all of one that is not."""

import random

import pytest

from proxid.runtime.transport.throttle import Heed, Throttle


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


@pytest.mark.parametrize("capacity", [0, 10, 100])
def test_who_asks_as_the_librarys_client_does_heeds_what_it_is_told(capacity: int) -> None:
    """Two processes of a household that would ask a thousand a second each, and all streams of one at once at first."""
    heed, throttles, taken = Heed(), [Throttle(random.Random(seed).random) for seed in range(2)], 0
    for _ in range(96):
        assert not heed.ignores("home", 0.0, taken=False)
    for number in range(10_000):
        now, throttle = number / 2000, throttles[number % 2]
        if throttle.admits(now):
            fits = taken < capacity * now
            taken += fits
            throttle.ended(now, fits)
            assert not heed.ignores("home", now, fits)


def test_who_asks_on_and_on_is_found_and_forgiven_and_others_are_not_taken_for_it() -> None:
    heed = Heed()
    found = [heed.ignores("hostile", number / 1000, taken=number % 10 == 0) for number in range(2000)]
    assert not any(found[:192]) and sum(found[1000:]) == 900, "what is taken is not held back"
    assert not heed.ignores("home", 2.0, taken=False) and not heed.ignores("hostile", 12.0, taken=False)


def test_few_broken_messages_are_a_fault_and_many_are_told_later() -> None:
    heed = Heed()
    assert not any(heed.breaks("home", second / 10) for second in range(32)), "a client that is older, or has a fault"
    found = [heed.breaks("hostile", number / 1000) for number in range(2000)]
    assert not any(found[:32]) and all(found[40:])
    assert not heed.breaks("other", 2.0) and not heed.breaks("hostile", 120.0)
