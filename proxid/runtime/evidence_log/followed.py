"""Logs that a successor follows: nothing is written to them, and their payloads expire like those of the newest one.

Their entries are numbered back from the newest log's first leaf, as an auditor counts: 0 is the last one of the log
before it. So one EXPIRED of the newest log says how far the payloads of all of them are gone (DESIGN 10.2).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from proxid.runtime.evidence_log.segments import parts_of, segment_names


@dataclass(frozen=True, slots=True)
class FollowedLog:
    """A log's segments, and how many entries its successor says that it has."""

    segments: Path
    size: int


def _payloads(logs: Sequence[FollowedLog]) -> Iterator[tuple[Path, int]]:
    """Each segment's file of payloads in order, and the number of its last entry."""
    before = -sum(log.size for log in logs)
    for log in logs:
        names = segment_names(log.segments) if log.segments.exists() else []
        ends = [min(following - 1, log.size) for _, following in pairwise([*names, log.size + 1])]
        yield from ((parts_of(log.segments, name), before + end) for name, end in zip(names, ends, strict=True))
        before += log.size


def followed_older_than(logs: Sequence[FollowedLog], expired: float) -> int | None:
    """The last number up to which all payloads were written before a time (Unix seconds); None if none is left."""
    until, left = None, False
    for parts, last in _payloads(logs):
        if parts.exists():
            if parts.stat().st_mtime >= expired:
                break
            left = True
        until = last
    return until if left else None


def expire_followed(logs: Sequence[FollowedLog], until: int) -> None:
    """Delete the payloads of every segment that ends at or before a number."""
    for parts, last in _payloads(logs):
        if last <= until:
            parts.unlink(missing_ok=True)
