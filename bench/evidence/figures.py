"""What `proxid bench evidence` prints: see the package."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bench import Figure
from bench.evidence.audit import Measured, measure, moment_of
from bench.evidence.day import Day
from bench.evidence.path import figure, path
from proxid.errors import InputError

PER_VERIFY_REACH, SIGNATURES_REACH, MEMORY_REACH = 0.17, 2.3, 150.0
_SHARES: Final = (0.1, 0.25, 0.5, 1.0)
_MILLION: Final = 1_000_000


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure; raises InputError for an option that is no number."""
    try:
        numbers = {
            "events": 100_000, "people": 300, "workers": -1, "grow": 0, "requests": 1500, "rounds": 6, "path": 1,
        }  # fmt: skip
        numbers |= {key: int(value) for key, value in options.items() if key in numbers}
    except ValueError:
        raise InputError("an option of this benchmark is a number") from None
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        figures = _audit(Path(folder), numbers)
    if numbers["path"]:
        figures |= path(numbers["requests"], numbers["rounds"])
    return figures


def _audit(folder: Path, numbers: Mapping[str, int]) -> dict[str, Figure]:
    day = Day(folder, people=numbers["people"])
    moments = []
    for share in _SHARES if numbers["grow"] else _SHARES[2:]:
        day.run(int(share * numbers["events"]))
        moments.append(moment_of(day))
    if not day.requests:
        raise InputError("events: too few for so many people")
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    workers = numbers["workers"] if numbers["workers"] >= 0 else None
    found = [measure(folder, moment, workers) for moment in moments]
    alone = measure(folder, moments[-2], 0)
    peaks = [(moment.events, cost.peak) for moment, cost in zip(moments, found, strict=True)]
    return (
        _speed(day.events, found[-1])
        | _alone(moments[-2].events, alone)
        | {
            "evidence_bytes_per_request": figure(size / day.requests, "bytes on both services' disks"),
            **{
                f"audit_memory_mb_at_{events}": figure(peak, "MB at most", f"before, {found[-1].before:,.0f} MB")
                for events, peak in peaks
            },
            "audit_memory_mb_at_1m_events": _at_a_million(
                [(m.events, c.peak) for m, c in zip(moments, found, strict=True)]
            ),
        }
    )


def _at_a_million(peaks: Sequence[tuple[int, float]]) -> Figure:
    """Of (events, MB at most), rising."""
    (half, before), (events, peak) = peaks[-2:]
    if events >= _MILLION:
        return figure(peak, "MB at most", "measured", MEMORY_REACH)
    told = peak + max(peak - before, 0.0) * (_MILLION - events) / (events - half)
    return figure(told, "MB at most", f"as from {half:,} to {events:,} events", MEMORY_REACH)


def _speed(events: int, cost: Measured) -> dict[str, Figure]:
    bare = 1 / cost.bare
    baseline = f"bare Ed25519 verify, {bare:,.0f}/s"
    return {
        "audit_events_per_s": figure(events / cost.seconds, "1/s", baseline),
        "audit_events_per_verify": figure(
            events / cost.seconds / bare, "events audited a bare verify", baseline, PER_VERIFY_REACH
        ),
        "ed25519_verify_per_s": figure(bare, "1/s"),
        "events_audited": figure(float(events), "events"),
    }


def _alone(events: int, cost: Measured) -> dict[str, Figure]:
    """One process by its processor time, which says more than the clock on a machine that does other things too."""
    baseline = f"bare Ed25519 verify, {1 / cost.bare:,.0f}/s"
    return {
        "audit_events_per_processor_s_alone": figure(events / cost.processor, "1/s", baseline),
        "audit_events_per_verify_alone": figure(
            events / cost.processor * cost.bare, "events audited a bare verify", baseline
        ),
        "audit_share_in_signatures": figure(cost.in_signatures / cost.seconds, "share of time"),
        "audit_signatures_per_event": figure(cost.signatures / events, "checked", reach=SIGNATURES_REACH),
    }
