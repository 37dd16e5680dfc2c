"""How long records wait: in records that came in meanwhile, and in seconds (002 §4.4.5.4, figure 4.16).

When a record left is known from the mechanism (`Release.at`), or from Algorithm 4's gate, which the two files determine
(`attacks.replay`), or, in a group that was not moved up, from its newest record: that arrival completed the group.
"""

from typing import Any

import numpy as np

from proxid.errors import InputError
from proxid.lab.attacks.replay import replay
from proxid.lab.logs.jit import Longs
from proxid.lab.released_log import Release


def release_times(release: Release) -> tuple[Longs | None, str]:
    """Arrivals read when each released record left (None: unknown), and how that is known."""
    if "times" not in release.cache:
        release.cache["times"] = _release_times(release)
    found: tuple[Longs | None, str] = release.cache["times"]
    return found


def _release_times(release: Release) -> tuple[Longs | None, str]:
    if len(release.at) and (release.at >= 0).all():
        return release.at, "recorded by the mechanism"
    if release.mechanism.mode != "mix" and not release.grouped:
        nothing = np.full(len(release.released), -1, np.int32)
        arrivals = (release.original.user, release.original_node)
        seen = (release.released.user, release.node, nothing)
        try:
            return replay(arrivals, seen, release.mechanism).at, "replayed from the two files"
        except InputError as error:
            return None, error.rule
    if release.exact and release.grouped:
        return _newest_of_group(release), "a group's newest record; a lower bound for groups moved up"
    return None, "needs the truth file"


def _newest_of_group(release: Release) -> Longs:
    """One more than the position of the newest record of each released record's group."""
    names, place = np.unique(release.released.group, return_inverse=True)
    newest = np.full(len(names), -1, np.int64)
    np.maximum.at(newest, place, release.origin)
    result: Longs = newest[place] + 1
    return result


def delay(release: Release) -> dict[str, Any]:
    """The metric: mean, median and 99th percentile of the delay of what was released."""
    at, source = release_times(release)
    if at is None or not release.exact:
        return {"reason": source if at is None else "needs the truth file", "times": source}
    left = (release.origin >= 0) & (at >= 1)
    origin, moment = release.origin[left], at[left] - 1
    waited = (moment - origin).astype(float)
    seconds = release.original.time[moment] - release.original.time[origin]
    return {"times": source, "records": _spread(waited), "seconds": _spread(seconds[np.isfinite(seconds)])}


def _spread(values: Any) -> dict[str, float]:
    if not len(values):
        return {}
    p50, p99 = np.percentile(values, [50, 99])
    return {"mean": float(values.mean()), "p50": float(p50), "p99": float(p99)}
