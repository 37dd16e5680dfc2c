"""Keys that are over: a time that had not come lets nothing pass for longer than to the next answered request."""

import pytest

from auditor.checks.c3_ended import EndedKey, EndedKeys
from auditor.checks.c3_links import People
from auditor.findings import SIGNATURES, Report, Unchecked
from auditor.policies import Policies
from tests.unit.auditor.test_expired_events import trusted
from tests.unit.auditor.test_limits import by

SKEW, NOW = 120, 1_000_000
YEAR = 365 * 86_400


def told(ended: EndedKeys) -> list[Unchecked]:
    report = Report()
    ended.finish(report)
    assert {reason.rule for reason in report.missing} <= {SIGNATURES}
    return report.missing


def said(*times: int, asked: int = NOW) -> tuple[EndedKeys, list[Unchecked]]:
    ended = EndedKeys(lambda: SKEW)
    for time in times:
        ended.end(b"key", time, revoked=True, event=1)
    ended.answered(asked * 1000, 2)
    ended.answered((asked + 10_000) * 1000, 3)
    return ended, told(ended)


def test_a_time_that_has_not_come_counts_until_the_next_request_and_is_told() -> None:
    ended, missing = said(NOW + 10**9)
    over = NOW + 2 * SKEW
    assert ended.keys[b"key"] == EndedKey(over, True, over) and len(missing) == 1


def test_an_honest_time_stands_whatever_the_clocks_may_be_off() -> None:
    for time in (NOW - 10**6, NOW, NOW + 2 * SKEW):
        ended, missing = said(time)
        assert ended.keys[b"key"] == EndedKey(time, True, time) and missing == []


def test_of_two_times_the_earlier_counts() -> None:
    for times in ((5, 9), (9, 5)):
        ended, _ = said(*times)
        assert ended.keys[b"key"] == EndedKey(5, True, 5)


def test_what_was_answered_before_a_key_was_over_was_asked_before_whatever_the_gateways_clock_said() -> None:
    """A clock hours behind would have it that a right of this morning was exercised with a key of nobody's."""
    ended, over = EndedKeys(lambda: SKEW), NOW - 2 * SKEW
    ended.asked(NOW * 1000)
    ended.answered(NOW * 1000, 1)
    ended.end(b"key", NOW - 20_000, revoked=False)
    assert ended.keys[b"key"] == EndedKey(over, False, over)
    ended.end(b"key", NOW - 30_000, revoked=True)
    assert ended.keys[b"key"] == EndedKey(over, True, over)
    ended.end(b"later", NOW + SKEW, revoked=False)
    assert ended.keys[b"later"].time == NOW + SKEW
    assert ended.holds(b"key", NOW * 1000) and told(ended) == []


@pytest.mark.parametrize("before", [False, True])
def test_what_the_main_service_did_not_take_excuses_no_right_and_accuses_none(before: bool) -> None:
    """An accomplice asks, or chooses, as of next year: before the key was over, or as the first after it."""
    ended = EndedKeys(lambda: SKEW)
    ended.answered(NOW * 1000, 1)
    if before:
        ended.asked((NOW + YEAR) * 1000)
        ended.end(b"key", NOW, revoked=True, event=2)
    else:
        ended.end(b"key", NOW + YEAR, revoked=True, event=2)
        ended.asked((NOW + YEAR) * 1000)
    ended.asked(NOW * 1000)
    assert ended.holds(b"key", (NOW + 10_000) * 1000)  # its clock may have been wrong
    again = EndedKeys(lambda: SKEW)
    again.restore(ended.state())
    assert any(reason.text.startswith("1 rights were exercised") for reason in told(again))


def test_what_was_asked_before_a_key_was_over_and_answered_afterwards_says_nothing_of_it() -> None:
    ended = EndedKeys(lambda: SKEW)
    ended.end(b"key", NOW + 5_000, revoked=True, event=3)
    ended.answered(NOW * 1000, 2)
    assert ended.keys[b"key"].time == NOW + 5_000 and told(ended) == []
    ended.answered((NOW + 5_000) * 1000, 4)
    assert ended.keys[b"key"].time == NOW + 5_000 and told(ended) == []


def test_a_rights_clock_may_be_off_by_what_any_epochs_policy_says() -> None:
    """The auditor's own configuration says two minutes, that of the day of the right fifteen."""
    people = People(policies := Policies(trusted()))
    by(policies, skew=900.0)
    people.ended.end(b"key", NOW, revoked=False)
    assert people.ended.holds(b"key", (NOW + 1_700) * 1000)
    assert not people.ended.holds(b"key", (NOW + 1_900) * 1000)
