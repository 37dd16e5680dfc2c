"""Keys that are over: a time that had not come lets nothing pass for longer than to the next request."""

from auditor.checks.c3_ended import EndedKey, EndedKeys
from auditor.findings import Report, Unchecked

SKEW, NOW = 120, 1_000_000


def said(*times: int, asked: int = NOW) -> tuple[EndedKeys, list[Unchecked]]:
    ended, report = EndedKeys(SKEW), Report()
    for time in times:
        ended.end(b"key", time, revoked=True)
    ended.asked(asked * 1000)
    ended.asked((asked + 10_000) * 1000)
    ended.finish(report)
    return ended, report.missing


def test_a_time_that_has_not_come_counts_until_the_next_request_and_is_told() -> None:
    ended, missing = said(NOW + 10**9)
    assert ended.keys[b"key"] == EndedKey(NOW + 2 * SKEW, True) and len(missing) == 1


def test_an_honest_time_stands_whatever_the_clocks_may_be_off() -> None:
    for time in (NOW - 10**6, NOW, NOW + 2 * SKEW):
        ended, missing = said(time)
        assert ended.keys[b"key"].time == time and missing == []


def test_of_two_times_the_earlier_counts() -> None:
    for times in ((5, 9), (9, 5)):
        ended, _ = said(*times)
        assert ended.keys[b"key"] == EndedKey(5, True)


def test_what_was_asked_before_a_key_was_over_was_asked_before_whatever_the_gateways_clock_said() -> None:
    """A clock hours behind would have it that a right of this morning was exercised with a key of nobody's."""
    ended = EndedKeys(SKEW)
    ended.asked(NOW * 1000)
    ended.end(b"key", NOW - 20_000, revoked=False)
    assert ended.keys[b"key"].time == NOW - 2 * SKEW
    ended.end(b"key", NOW - 30_000, revoked=True)
    assert ended.keys[b"key"] == EndedKey(NOW - 2 * SKEW, True)
    ended.end(b"later", NOW + SKEW, revoked=False)
    assert ended.keys[b"later"].time == NOW + SKEW
