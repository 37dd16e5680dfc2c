"""Sybil accounts (003 §3.2, Example 2; DESIGN 8.5): an attacker who holds some of the accounts.

Two things are measured. Of a record whose group or buffer contains s accounts of the attacker: the informed posterior
of its owner, for s = 0, 1, 2, …; in `mix` it stays at 1/k up to s = m and worsens by one person for each further
account. Of a text that is shown: how many distinct people issued it; an attacker who holds all but one of those
accounts learns that the remaining person did (Example 2: k - 1 accounts ask the neighbour's route).
"""

from typing import Any

import numpy as np

from proxid.errors import InputError
from proxid.lab.attacks.informed import posterior_report
from proxid.lab.attacks.registry import Options
from proxid.lab.attacks.scoring import clusters, judge
from proxid.lab.intervals import clustered_rate
from proxid.lab.logs.jit import Longs
from proxid.lab.released_log import Release, with_text


def issuers(release: Release) -> Longs:
    """Distinct people of the input who issued each text, by text code."""
    if "issuers" not in release.cache:
        pairs = np.unique((release.original.query.astype(np.int64) << 32) | release.original.user)
        size = int(max(release.original.query.max(initial=-1), release.released.query.max(initial=-1))) + 1
        release.cache["issuers"] = np.bincount(pairs >> 32, minlength=size)
    result: Longs = release.cache["issuers"]
    return result


def sybil(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The attack as `proxid attack` calls it: s from 0 to m + 2, or to `colluders` when that is more."""
    most = max(options.colluders, release.mechanism.margin + 2)
    return {
        "accounts_in_group": [_with_accounts(release, s, options.seed) for s in range(most + 1)],
        "texts": _exposed_texts(release, most),
    }


def _with_accounts(release: Release, accounts: int, seed: int) -> dict[str, Any]:
    try:
        guesses, report = posterior_report(release, accounts, seed)
    except InputError as error:
        return {"accounts": accounts, "reason": error.rule}
    if not len(guesses):
        return {"accounts": accounts, "reason": "needs the truth file"}
    hits = judge(release, guesses)
    rate = clustered_rate(hits.same[hits.known], clusters(release)[guesses.row][hits.known])
    del report["colluders"]
    return {"accounts": accounts, **report, "same_record": rate.as_dict()}


def _exposed_texts(release: Release, most: int) -> dict[str, Any]:
    """Share of shown texts with at most s + 1 issuers, for each number s of accounts."""
    shown = release.released.query[with_text(release.released, release.no_text)]
    if not len(shown):
        return {"shown_records": 0, "fewest_issuers": None, "exposed_share": []}
    count = issuers(release)[shown]
    return {
        "shown_records": len(shown),
        "fewest_issuers": int(count.min()),
        "exposed_share": [float((count <= s + 1).mean()) for s in range(most + 1)],
    }
