"""What a service owes is counted by what was asked of it since, in the order of the log and up to the present."""

import math
from collections.abc import Sequence

import pytest

from auditor.checks import c7_rules
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_rules import Times, check
from auditor.findings import Report

MINUTE = 60_000
OWED = 18 * MINUTE
AT = 1_700_000_000_000


def audit(times: Sequence[int], owing: int, unfiled: bool = True, fresh: bool = True, owed: float = OWED) -> Report:
    """Requests of these times (Unix ms), as they came; nothing became of the one at `owing`, all others ended.

    Args:
        unfiled: it was received, and not filed; else not even received. fresh: the others were received.
        owed: for so long people may ask meanwhile, by all policies (milliseconds).
    """
    sets, report = Sets(), Report()
    for number, time in enumerate(times):
        session = number.to_bytes(16, "big").hex()
        sets.forwarded(session, time, number + 1)
        if number == owing and not unfiled:
            continue
        if fresh or number == owing:
            sets.received(session, time, number + 1)
            if number != owing:
                sets.ended(session, "no_consent", number + 1)
        else:
            sets.refused(session, 2)
    check(sets, Times(AT, AT - MINUTE, owed, OWED), 1000, report)
    sets.close()
    return report


@pytest.mark.parametrize("unfiled", [True, False])
def test_what_is_owed_while_others_ask_for_long_is_a_violation(unfiled: bool) -> None:
    times = [AT - 60 * MINUTE, AT - 55 * MINUTE, AT - 36 * MINUTE, AT - 30 * MINUTE]
    assert [v.event for v in audit(times, 0, unfiled).violations] == [1]
    assert audit(times[:3], 0, unfiled).violations == [], "one that was there for a moment, and away again"
    assert audit([times[0], *times[2:]], 0, unfiled).violations == [], "one that was away for long"


@pytest.mark.parametrize("unfiled", [True, False])
@pytest.mark.parametrize(
    "earlier",
    [[AT + 60 * MINUTE, AT + 70 * MINUTE], [AT - 60 * MINUTE, AT - 30 * MINUTE, AT - 20 * MINUTE]],
    ids=["clocks were ahead", "clocks fall behind"],
)
def test_clocks_that_go_back_make_nobody_guilty_of_what_was_just_asked(unfiled: bool, earlier: list[int]) -> None:
    """Under what was asked before by other clocks it would be old."""
    just_now = min(earlier[0], AT) - 45 * MINUTE if earlier[0] < AT else AT - 1000
    report = audit([*earlier, just_now], len(earlier), unfiled)
    assert report.violations == []


def test_requests_that_were_refused_show_nobody_at_work() -> None:
    """Whoever asks may say any time: the main service refuses what is not fresh."""
    report = audit([AT - 60 * MINUTE, AT - 40 * MINUTE, AT - 30 * MINUTE], 0, unfiled=False, fresh=False)
    assert report.violations == []


def test_the_newest_that_is_owed_is_found_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c7_rules, "_PAGE", 2)
    times = [AT - (60 - number) * MINUTE for number in range(50)]
    assert [v.event for v in audit(times, 3).violations] == [4]
    assert audit(times, 40).violations == []


@pytest.mark.parametrize("unfiled", [True, False])
def test_what_is_owed_under_a_policy_that_is_not_known_is_told_and_accuses_nobody(unfiled: bool) -> None:
    """It may say that clocks differ by days."""
    times = [AT - 60 * MINUTE, AT - 55 * MINUTE, AT - 36 * MINUTE, AT - 30 * MINUTE]
    report = audit(times, 0, unfiled, owed=math.inf)
    assert report.violations == []
    (reason,) = report.missing
    assert reason.text.startswith("1 ") and "policy that is not accepted" in reason.text
    assert audit([AT - MINUTE], 0, unfiled, owed=math.inf).missing == []
