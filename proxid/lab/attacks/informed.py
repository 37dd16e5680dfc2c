"""The informed adversary (DESIGN 8.3, 8.4): it knows who arrived when and where, and computes the exact posterior.

In modes `thesis` and `thesis3` it also knows, before each release, which people have how much waiting (`replay`); in
`mix` a group's members and, of those who collude, their own records (`cycles`). It guesses the likeliest owner.
"""

from typing import Any

import numpy as np

from proxid.errors import InputError
from proxid.lab.attacks.base import Guesses
from proxid.lab.attacks.cycles import group_faults, informed_groups
from proxid.lab.attacks.registry import Options
from proxid.lab.attacks.replay import replay
from proxid.lab.attacks.scoring import linkage
from proxid.lab.logs.jit import Codes, Reals
from proxid.lab.released_log import Release

SLACK = 1e-9
"""A posterior over its bound by less is rounding."""


def posteriors(release: Release, colluders: int, seed: int) -> tuple[Codes, Reals]:
    """The informed guess of each released record (-1: none) and its posterior. Raises InputError."""
    if release.grouped:
        found = informed_groups(
            release.released.user, release.owner, release.released.group, colluders=colluders, seed=seed
        )
        return found.guess, found.posterior
    arrivals = (release.original.user, release.original_node)
    seen = (release.released.user, release.node, release.owner)
    replayed = replay(arrivals, seen, release.mechanism, colluders=colluders, seed=seed)
    return replayed.guess, replayed.posterior


def posterior_report(release: Release, colluders: int, seed: int) -> tuple[Guesses, dict[str, Any]]:
    """Guesses, and how many records have a posterior over the claimed bound."""
    guess, top = posteriors(release, colluders, seed)
    row = np.flatnonzero(guess >= 0)
    bound = release.mechanism.bound_with(colluders)
    attacked = top[row]
    report = {
        "colluders": colluders,
        "bound": bound,
        "records": len(row),
        "over_bound": int((attacked > bound + SLACK).sum()),
        "over_bound_share": float((attacked > bound + SLACK).mean()) if len(row) else float("nan"),
        "posterior_mean": float(attacked.mean()) if len(row) else float("nan"),
        "posterior_max": float(attacked.max(initial=0.0)),
    }
    if release.grouped:
        least = release.mechanism.k + 1 + release.mechanism.margin
        report["group_faults"] = group_faults(release.released.user, release.owner, release.released.group, least)
    return Guesses(row, guess[row]), report


def informed(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The attack as `proxid attack` calls it."""
    try:
        guesses, report = posterior_report(release, options.colluders, options.seed)
    except InputError as error:
        return {"reason": error.rule}
    if not len(guesses):
        return {"reason": "needs the truth file", **report}
    found = {"posterior": report, **linkage(release, guesses, cells=options.cells, margin=options.margin)}
    if options.colluders:  # helped by members, its rate is that of its own bound and not 1/(n-1)
        found["bound"] = report["bound"]
        found.get("groups", {})["test"] = None
    return found
