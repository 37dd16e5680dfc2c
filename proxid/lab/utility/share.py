"""How much of a log came out, what did not, and what waiting costs (002 §4.4.4, §4.4.5.5, figures 4.8, 4.9)."""

from typing import Any

import numpy as np

from proxid.anonymise.mix.settings import Settings
from proxid.lab.columns.engines import MixEngine, ThesisEngine, mix_engine, thesis3_engine, thesis_engine
from proxid.lab.logs import Dictionaries
from proxid.lab.logs.jit import Longs
from proxid.lab.released_log import Release, with_text
from proxid.lab.utility.delay import release_times

PIECE = 1 << 14
"""Records fed at a time while memory is measured: the engines keep room for a piece."""


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
    """The metric: |Q| at the end, in minus out, over all nodes in use and over those that released something.

    In mode `mix` that is more than what waits: what was repeated, capped or given up did not come out either. The
    manifest counts these (`suppressed`).
    """
    arrived = np.bincount(release.original_node, minlength=len(release.tree))
    left = _left(release)
    remain = np.maximum(arrived - left, 0)
    used, active = arrived > 0, (arrived > 0) & (left > 0)
    return {
        "exact": release.exact or not release.grouped,
        "nodes": int(used.sum()),
        "active_nodes": int(active.sum()),
        "final_q_mean": float(remain[used].mean()) if used.any() else float("nan"),
        "final_q_active_mean": float(remain[active].mean()) if active.any() else float("nan"),
        "final_q_max": int(remain.max(initial=0)),
        "not_released": int(remain.sum()),
    }


def peak_inside(release: Release) -> int | None:
    """The most records in minus out at one time, or None where release times are unknown."""
    at, _ = release_times(release)
    if at is None or (at < 0).any():
        return None
    left = np.bincount(at, minlength=len(release.original) + 1)
    return int((np.arange(len(left)) - np.cumsum(left)).max(initial=0))


def memory(release: Release) -> dict[str, Any]:
    """The metric: what waits at most, and the bytes of the mechanism's state a waiting record.

    The mechanism is run again over the input, in pieces, without the ladder; its state is measured where most waits.
    """
    engine = make_engine(release)
    most, held = 0, 0
    for begin in range(0, len(release.original), PIECE):
        engine.feed(release.original.take(slice(begin, begin + PIECE)))
        if engine.waiting >= most:
            most, held = engine.waiting, engine.nbytes
    return {
        "peak_in_minus_out": peak_inside(release),
        "state_bytes": held,
        "waiting_records": most,
        "bytes_per_waiting_record": held / most if most else float("nan"),
    }


def make_engine(release: Release) -> MixEngine | ThesisEngine:
    """The release's mechanism, fresh, with a fixed seed; for measuring only."""
    mechanism, dictionaries = release.mechanism, Dictionaries(tree=release.tree)
    if mechanism.mode == "thesis":
        return thesis_engine(dictionaries, mechanism.k, mechanism.level, seed=0)
    if mechanism.mode == "thesis3":
        return thesis3_engine(dictionaries, mechanism.k, mechanism.level, delta=mechanism.delta, seed=0)
    settings = Settings(k=mechanism.k, level=mechanism.level, margin=mechanism.margin)
    return mix_engine(dictionaries, settings, ladder=False, seed=0)
