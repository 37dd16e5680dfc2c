"""A service that goes back to an earlier release is told of, not accused; one that says less now and then is."""

import pytest

from auditor.checks.c7_releases import Releases, ReleasesState
from auditor.findings import Report
from proxid.errors import RecordMismatchError


def told(releases: Releases) -> list[str]:
    report = Report()
    releases.finish(report)
    return [reason.text for reason in report.missing]


def said(releases: Releases, *forms: str) -> None:
    """Each `enrolled/2`, one after the other."""
    for form in forms:
        what, _, number = form.partition("/")
        releases.said(what, int(number))


def test_what_only_ever_says_more_is_nothing_to_tell() -> None:
    releases = Releases("gateway", 0)
    said(releases, "enrolled/1", "enrolled/1", "refused/2", "enrolled/2", "refused/3", "enrolled/2")
    assert told(releases) == []


def test_one_release_back_and_forward_again_is_one_time_however_much_is_said_in_it() -> None:
    releases = Releases("gateway", 1)
    said(releases, "enrolled/2", "refused/3", *["enrolled/1", "refused/2"] * 9, "refused/3", "enrolled/2")
    assert told(releases) == ["the service went back to an earlier release once: 18 entries say less than those before"]
    again = Releases("gateway", 1)
    again.restore(releases.state())
    assert told(again) == told(releases)  # in each audit after it, too
    with pytest.raises(RecordMismatchError):
        said(again, "refused/2")


def test_who_goes_back_release_by_release_and_forward_again_went_back_once() -> None:
    """Each release says one thing less than the next: on the way some are in full again, and others are not yet."""
    releases = Releases("gateway", 1)
    full, two, one = ("a/2", "b/2", "c/2"), ("a/2", "b/2", "c/1"), ("a/2", "b/1", "c/1")
    said(releases, *full, *two, *one, "a/1", "b/1", "c/1", *one, *two, *full)
    assert told(releases) == ["the service went back to an earlier release once: 9 entries say less than those before"]
    with pytest.raises(RecordMismatchError):
        said(releases, "b/1")


@pytest.mark.parametrize("most", [0, 1, 3])
def test_who_says_less_now_and_then_is_of_no_release(most: int) -> None:
    releases = Releases("gateway", most)
    said(releases, "enrolled/2", *["enrolled/1", "enrolled/2"] * most)
    for _ in range(2):
        with pytest.raises(RecordMismatchError):
            said(releases, "enrolled/1")
    assert releases.state() == ReleasesState({"enrolled": 2}, {"enrolled"}, {"enrolled": most + 1}, most + 2)
