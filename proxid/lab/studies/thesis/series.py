"""How output and delay develop while the log is read (figures 4.9 and 4.16)."""

from typing import Any

import numpy as np

from proxid.lab.released_log import Release

POINTS = 25


def progress_series(release: Release) -> dict[str, list[float | None]]:
    """At so many points of the log: records read, share released, mean delay of what left since the last point."""
    total = len(release.original)
    edges = np.linspace(0, total, POINTS + 1).astype(np.int64)
    order = np.argsort(release.at, kind="stable")
    at, delay = release.at[order], (release.at - 1 - release.origin)[order]
    cuts = np.searchsorted(at, edges, "right")
    sums = np.concatenate([[0], np.cumsum(delay)])
    result: dict[str, list[Any]] = {"read": [], "released_share": [], "delay": []}
    for i in range(1, POINTS + 1):
        left = int(cuts[i] - cuts[i - 1])
        result["read"].append(int(edges[i]))
        result["released_share"].append(float(cuts[i] / max(edges[i], 1)))
        result["delay"].append(float((sums[cuts[i]] - sums[cuts[i - 1]]) / left) if left else None)
    return result
