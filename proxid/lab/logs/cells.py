"""Compiled readers and writers of single TSV cells: whole numbers, times, UTF-8 (DESIGN 13).

A reader gives `INVALID` for what it cannot read; times are `YYYY-MM-DD HH:MM:SS` (also with `T`, a fraction, `Z` or
`±HH:MM`), as `proxid.loglines.times` reads them.
"""

import numpy as np

from proxid.lab.logs.jit import Bytes, Scalar, step
from proxid.loglines.times import END, FIRST

INVALID = -(1 << 62)
_DAY = 86_400


@step
def read_digits(data: Bytes, start: int, stop: int) -> Scalar:
    """An unsigned decimal number of at most nine digits."""
    if not 1 <= stop - start <= 9:
        return INVALID
    value: Scalar = 0
    for i in range(start, stop):
        digit = np.int64(data[i]) - 48
        if digit < 0 or digit > 9:
            return INVALID
        value = value * 10 + digit
    return value


@step
def _days(year: Scalar, month: Scalar, day: Scalar) -> Scalar:
    """Days since 1970-01-01 in the proleptic Gregorian calendar (the year begins in March)."""
    if month <= 2:
        year -= 1
        month += 12
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month - 3) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@step
def _date(days: Scalar) -> Scalar:
    """Year, month, day of a day number; the inverse of `_days`."""
    shifted = days + 719468
    era = shifted // 146097
    of_era = shifted - era * 146097
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return year + era * 400 + (1 if month <= 2 else 0), month, day


@step
def _fraction(data: Bytes, start: int, stop: int) -> Scalar:
    """The seconds that a fraction adds: `.` and digits, of which nine count; 0 for nothing, else INVALID."""
    if stop == start:
        return 0.0
    if data[start] != 46 or stop - start < 2:
        return np.float64(INVALID)
    for i in range(start + 1, stop):
        if data[i] < 48 or data[i] > 57:
            return np.float64(INVALID)
    counted = min(stop, start + 10)
    return read_digits(data, start + 1, counted) / 10.0 ** (counted - start - 1)


@step
def _offset(data: Bytes, start: int, stop: int) -> Scalar:
    """(Seconds ahead of UTC that `±HH:MM` at the end says or INVALID, where it begins); 0 for `Z` and for nothing."""
    if stop > start and data[stop - 1] == 90:
        return 0, stop - 1
    if stop - start < 6 or data[stop - 3] != 58 or (data[stop - 6] != 43 and data[stop - 6] != 45):
        return 0, stop
    hours, minutes = read_digits(data, stop - 5, stop - 3), read_digits(data, stop - 2, stop)
    if min(hours, minutes) < 0 or hours > 23 or minutes > 59:
        return INVALID, stop
    seconds = hours * 3600 + minutes * 60
    return (-seconds if data[stop - 6] == 45 else seconds), stop - 6


@step
def _time_marks(data: Bytes, start: int) -> Scalar:
    """Whether the dashes, colons and the space (or `T`) of a time are where they belong."""
    dashes = data[start + 4] == 45 and data[start + 7] == 45
    colons = data[start + 13] == 58 and data[start + 16] == 58
    return dashes and colons and (data[start + 10] == 32 or data[start + 10] == 84)


@step
def read_time(data: Bytes, start: int, stop: int) -> Scalar:
    """Seconds since 1970 (UTC) of `YYYY-MM-DD HH:MM:SS`; NaN for an empty cell."""
    if stop == start:
        return np.nan
    wrong = np.float64(INVALID)
    if stop - start < 19 or not _time_marks(data, start):
        return wrong
    year, month = read_digits(data, start, start + 4), read_digits(data, start + 5, start + 7)
    day = read_digits(data, start + 8, start + 10)
    hour, minute = read_digits(data, start + 11, start + 13), read_digits(data, start + 14, start + 16)
    second = read_digits(data, start + 17, start + 19)
    ahead, end = _offset(data, start + 19, stop)
    part = _fraction(data, start + 19, end)
    if min(year, month, day, hour, minute, second) < 0 or part < 0 or ahead == INVALID:
        return wrong
    if year < 1 or month < 1 or month > 12 or hour > 23 or minute > 59 or second > 60:
        return wrong
    days = _days(year, month, day)
    if _date(days) != (year, month, day):  # the 31st of a month that has 30 days
        return wrong
    moment = np.float64(days * _DAY + hour * 3600 + minute * 60 + second) + part - ahead
    return moment if FIRST <= moment < END else wrong


@step
def valid_utf8(data: Bytes, start: int, stop: int) -> Scalar:
    """Whether the bytes are UTF-8: no overlong forms, no surrogates, nothing over U+10FFFF."""
    at = start
    while at < stop:
        lead = np.int64(data[at])
        more = 0 if lead < 0x80 else 1 if 0xC2 <= lead < 0xE0 else 2 if 0xE0 <= lead < 0xF0 else 3
        if (lead >= 0x80 and more == 3 and not 0xF0 <= lead < 0xF5) or at + more >= stop:
            return False
        for i in range(1, more + 1):
            if data[at + i] & 0xC0 != 0x80:
                return False
        if more >= 2:
            second = np.int64(data[at + 1])
            if (lead == 0xE0 and second < 0xA0) or (lead == 0xED and second > 0x9F):
                return False
            if (lead == 0xF0 and second < 0x90) or (lead == 0xF4 and second > 0x8F):
                return False
        at += more + 1
    return True


@step
def write_digits(out: Bytes, at: Scalar, value: Scalar, width: int) -> Scalar:
    """Write a number with at least `width` digits; returns where the next byte goes."""
    digits, rest = 1, value // 10
    while rest > 0:
        digits += 1
        rest //= 10
    digits = max(digits, width)
    for i in range(digits):
        out[at + digits - 1 - i] = 48 + value % 10
        value //= 10
    return at + digits


@step
def write_time(out: Bytes, at: Scalar, seconds: float) -> Scalar:
    """Write `YYYY-MM-DD HH:MM:SS` (whole seconds), nothing for NaN; returns where the next byte goes."""
    if np.isnan(seconds):
        return at
    whole = np.int64(np.floor(seconds))
    days, left = whole // _DAY, whole % _DAY
    year, month, day = _date(days)
    at = write_digits(out, at, year, 4)
    out[at] = 45
    at = write_digits(out, at + 1, month, 2)
    out[at] = 45
    at = write_digits(out, at + 1, day, 2)
    out[at] = 32
    at = write_digits(out, at + 1, left // 3600, 2)
    out[at] = 58
    at = write_digits(out, at + 1, left // 60 % 60, 2)
    out[at] = 58
    return write_digits(out, at + 1, left % 60, 2)
