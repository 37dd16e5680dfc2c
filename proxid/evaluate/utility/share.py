"""How much of a log came out, what still waits, and what waiting costs (002 §4.4.4, §4.4.5.5, figures 4.8, 4.9)."""

from typing import Any

import numpy as np

from proxid.evaluate.release import Release, with_text
from proxid.evaluate.utility.delay import release_times
from proxid.logs.jit import Longs

RECORD_COLUMNS = 5
"""Numbers of 8 bytes that a waiting record needs on columns: user, query, category, time, position."""


def released_share(release: Release) -> dict[str, Any]:
    """The metric: records out over records in, and how many of them still show a text or their full category."""
    rows_in, rows_out = len(release.original), len(release.released)
    shown = with_text(release.released, release.no_text)
    return {
        "records_in": rows_in,
        "records_out": rows_out,
        "released_share": rows_out / rows_in if rows_in else float("nan"),
        "with_text_share": float(shown.mean()) if rows_out else float("nan"),
        "true_profile_pairs": _true_pairs(release),
    }


def _true_pairs(release: Release) -> float:
    """Share of published (user, category) pairs that are literally true: what ℓ does not hide (DESIGN 8.4.2)."""
    if not len(release.released):
        return float("nan")
    own = np.unique((release.original.user.astype(np.int64) << 32) | release.original.category)
    seen = (release.released.user.astype(np.int64) << 32) | release.released.category
    return float(np.isin(seen, own).mean())


def _left(release: Release) -> Longs:
    """Records that left, a number a node; by the truth where it is known."""
    size = len(release.tree)
    if release.exact:
        return np.bincount(release.original_node[release.origin[release.origin >= 0]], minlength=size)
    return np.bincount(release.node, minlength=size)


def buffers(release: Release) -> dict[str, Any]:
    """The metric: |Q| at the end, over all nodes in use and over those that released something."""
    arrived = np.bincount(release.original_node, minlength=len(release.tree))
    left = _left(release)
    waiting = np.maximum(arrived - left, 0)
    used, active = arrived > 0, (arrived > 0) & (left > 0)
    return {
        "exact": release.exact or not release.grouped,
        "nodes": int(used.sum()),
        "active_nodes": int(active.sum()),
        "final_q_mean": float(waiting[used].mean()) if used.any() else float("nan"),
        "final_q_active_mean": float(waiting[active].mean()) if active.any() else float("nan"),
        "final_q_max": int(waiting.max(initial=0)),
        "waiting": int(waiting.sum()),
    }


def peak_waiting(release: Release) -> int | None:
    """The most records that waited at one time, or None where release times are unknown."""
    at, _ = release_times(release)
    if at is None or (at < 0).any():
        return None
    left = np.bincount(at, minlength=len(release.original) + 1)
    return int((np.arange(len(left)) - np.cumsum(left)).max(initial=0))


def memory(release: Release) -> dict[str, Any]:
    """The metric: the most that waited, and its bytes: five numbers and the text a record, without the dictionaries."""
    peak = peak_waiting(release)
    if peak is None:
        return {"reason": "needs the truth file"}
    return {
        "peak_waiting_records": peak,
        "bytes_per_waiting_record": 8 * RECORD_COLUMNS,
        "peak_bytes": 8 * RECORD_COLUMNS * peak,
    }
