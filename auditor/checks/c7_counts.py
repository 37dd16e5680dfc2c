"""What became of requests and groups, in numbers, for people to read (check 7 of DESIGN 10.4)."""

from collections import Counter
from typing import Final

from auditor.checks.c7_completeness import HIDDEN, Sets


def period(sets: Sets) -> tuple[int, int] | None:
    """Times of the first and the last request that can be read, in Unix milliseconds; None if there is none."""
    (row,) = sets.rows(f"SELECT MIN(forwarded), MAX(forwarded) FROM sessions WHERE forwarded>{HIDDEN}")  # noqa: S608
    first, last = row
    return None if first is None else (first, last)


_COUNTS: Final = {
    "requests": "FROM sessions WHERE forwarded IS NOT NULL",
    "received": "FROM sessions WHERE received IS NOT NULL",
    "released": "FROM sessions WHERE fate='released'",
    "waiting": "FROM sessions WHERE buffered=1 AND fate IS NULL",
    "groups": "FROM (SELECT DISTINCT epoch, grp FROM deliveries WHERE released IS NOT NULL)",
    "deliveries": "FROM deliveries WHERE delivered IS NOT NULL",
    "dropped": "FROM deliveries WHERE dropped IS NOT NULL",
    "possibly_held": "FROM deliveries WHERE sent IS NOT NULL AND delivered IS NULL",
    "unsent": "FROM deliveries WHERE released IS NOT NULL AND sent IS NULL AND delivered IS NULL",
    "pending": "FROM deliveries WHERE released IS NOT NULL AND delivered IS NULL AND dropped IS NULL",
    "unacknowledged": "FROM deliveries WHERE sent IS NOT NULL AND delivered IS NULL AND dropped IS NULL",
}
_AGED: Final = ("pending", "unacknowledged")


HIDDEN_OWNERS: Final = "groups.hidden_owners"
"""Count of records in released groups whose owner cannot be read any more."""


def summarise(sets: Sets, newest: int, counts: Counter[str]) -> None:
    """Counts by fate, for people; and how many epochs have begun since those of the oldest of what has an age.

    Args:
        newest: the epoch that the gateway opened last.
    """
    for name, where in _COUNTS.items():
        counts[name] = sets.rows(f"SELECT COUNT(*) {where}")[0][0]
    for name in _AGED:
        oldest = sets.rows(f"SELECT MIN(epoch) {_COUNTS[name]}")[0][0]
        counts[f"{name}.epochs"] = 0 if oldest is None else max(0, newest - oldest)
    # Whose record it was cannot be read after an erasure, but that one left, and so does not wait, can.
    counts["released"] += counts[HIDDEN_OWNERS]
    counts["waiting"] -= counts[HIDDEN_OWNERS]
    withheld = "SELECT fate, COUNT(*) FROM sessions WHERE fate IS NOT NULL AND fate<>'released' GROUP BY fate"
    for fate, count in sets.rows(withheld):
        counts[f"withheld.{fate}"] = count
    for reason, count in sets.rows("SELECT reason, COUNT(*) FROM deliveries WHERE dropped IS NOT NULL GROUP BY reason"):
        counts[f"dropped.{reason}"] = count
