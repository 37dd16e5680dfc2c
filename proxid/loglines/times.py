"""Times of a log: seconds since 1970 (UTC) in the years 1 to 9999, or none (ISO 8601; DESIGN 13)."""

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Final

FIRST: Final = -62_135_596_800.0
END: Final = 253_402_300_800.0
"""Seconds of the year 1's beginning and of the year 9999's end: what a calendar date can say."""

_TSV: Final = re.compile(rb"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?")
_START: Final = datetime(1970, 1, 1)  # noqa: DTZ001 (times of TSV are UTC; arithmetic needs no zone)


def checked_time(seconds: float) -> float:
    """Seconds that a date can say. Raises ValueError for others: not finite, milliseconds, the year 20000."""
    if not FIRST <= seconds < END:
        raise ValueError("not a time")
    return seconds


def parse_time(value: str | float) -> float:
    """Seconds since 1970 of an ISO 8601 time (without an offset UTC) or of a number of seconds. Raises ValueError."""
    if isinstance(value, int | float):
        try:
            return checked_time(float(value))
        except OverflowError:
            raise ValueError("not a time") from None
    moment = datetime.fromisoformat(value.strip())
    return checked_time((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def parse_cell(cell: bytes) -> float:
    """Seconds of a TSV cell: `YYYY-MM-DD HH:MM:SS`, also with T, a fraction, Z or ±HH:MM; NaN when empty.

    Raises ValueError.
    """
    if not cell:
        return math.nan
    found = _TSV.fullmatch(cell)
    if found is None:
        raise ValueError("not a time")
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    if hour > 23 or minute > 59 or second > 60:  # a leap second is one
        raise ValueError("not a time")
    whole = datetime(year, month, day) - _START + timedelta(hours=hour, minutes=minute, seconds=second)  # noqa: DTZ001
    digits = (found[7] or b"0")[:9]
    return checked_time(whole.total_seconds() + int(digits) / 10.0 ** len(digits) - _offset(found[8]))


def _offset(zone: bytes | None) -> int:
    """Seconds that a zone is ahead of UTC. Raises ValueError."""
    if zone is None or zone == b"Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 23 or minutes > 59:
        raise ValueError("not a time")
    return (hours * 3600 + minutes * 60) * (-1 if zone[:1] == b"-" else 1)


def format_time(seconds: float) -> str | None:
    """ISO 8601 with `Z`, whole seconds or microseconds; None for NaN."""
    if math.isnan(seconds):
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
