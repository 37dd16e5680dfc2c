"""003's attacks on a file that publishes what is frequent: homogeneity (Example 1) and the active attack (Example 2).

`counted` has the attacks; here they meet a log, its release and the manifest beside it. Who could have asked something
is known to the attacker and not to the log: homogeneity takes it from a file, user TAB group, everybody of a group.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from proxid.errors import InputError
from proxid.lab.attacks.counted import Publish, Row, active_attack_rate, best_guess, homogeneity
from proxid.lab.attacks.registry import Options
from proxid.lab.load import manifest_of
from proxid.lab.logs import read_log
from proxid.lab.release.k_anonymous.keyword import k_keyword_anonymous
from proxid.lab.release.k_anonymous.session import k_session_anonymous
from proxid.lab.release.noise import OpenDpNoise
from proxid.lab.release.published import read_published
from proxid.lab.release.zealous.mechanism import sanitise
from proxid.lab.release.zealous.plan import zealous_plan
from proxid.lab.released_log import Release
from proxid.regular import regular_text

NAMES: Final = ("homogeneity", "active")
TRIALS: Final = 200
"""Queries of the active attack, each with a victim who asked it and with one who did not."""
_CROWD: Final = [(f"somebody {at}", f"anything {at % 7}") for at in range(300)]


@dataclass(frozen=True, slots=True)
class Attacked:
    """A release of what is frequent: how it publishes, accounts that bring one more user to the limit, what is claimed.

    bound: the largest chance of a right answer that it allows, 1 where it claims nothing.
    """

    publish: Publish
    accounts: int
    bound: float = 1.0


def active(name: str, release: Release, options: Options) -> dict[str, Any]:
    """What `proxid attack` says where the attack does not apply."""
    return {"reason": "is about releases of what is frequent; on groups of people its like is sybil"}


def frequent_attacks(original: Path, released: Path, names: Iterable[str], groups: Path | None) -> dict[str, Any]:
    """Those of NAMES that were asked for, on a release of k-query, k-session, k-keyword, ka or zealous; else none.

    Raises InputError for a file of groups that is none.
    """
    manifest = manifest_of(released)
    make = _MADE.get(str(manifest.get("mechanism")))
    if make is None:
        return {}
    found: dict[str, Any] = {}
    for name in NAMES:
        if name in names:
            found[name] = _active(make(manifest)) if name == "active" else _homogeneity(original, released, groups)
    return found


def _active(attacked: Attacked) -> dict[str, Any]:
    queries = [f"from A{at} to the hospital" for at in range(TRIALS)]
    right = active_attack_rate(attacked.publish, _CROWD, queries, attacked.accounts)
    return {"accounts": attacked.accounts, "trials": 2 * TRIALS, "right": right, "bound": attacked.bound}


def _homogeneity(original: Path, released: Path, groups: Path | None) -> dict[str, Any]:
    if groups is None:
        return {"reason": "needs --groups: who could have asked, user TAB group"}
    words = manifest_of(released).get("mechanism") == "k-keyword"
    batch, log = read_log(original)
    known = log.dictionaries
    pairs = np.unique(batch.user.astype(np.int64) << 32 | batch.query).tolist()
    asked = [(known.user[pair >> 32], known.query[pair & 0xFFFFFFFF]) for pair in pairs]
    rows: list[Row] = [(user, word) for user, text in asked for word in text.split()] if words else asked
    learned = homogeneity(rows, _published(released), read_groups(groups))
    return {"facts": learned.facts, "queries": learned.queries}


def _published(released: Path) -> set[str]:
    if manifest_of(released)["mechanism"] in ("k-query", "k-session"):
        return set(read_log(released)[1].dictionaries.query)
    return {item[0] for item in read_published(released).items}


def read_groups(path: Path) -> dict[str, str]:
    """The group of each user, of lines of user TAB group. Raises InputError."""
    try:
        rows = (line.split("\t") for line in regular_text(path).splitlines() if line)
        return dict(rows)
    except (OSError, ValueError):
        raise InputError(f"{path.name}: every line has a user, a tab and a group") from None


def _askers(rows: list[Row]) -> dict[str, set[str]]:
    askers: dict[str, set[str]] = {}
    for user, query in rows:
        askers.setdefault(query, set()).add(user)
    return askers


def _over(least: int) -> Publish:
    return lambda rows: {query for query, users in _askers(rows).items() if len(users) >= least}


def _sessions(k: int) -> Publish:
    return lambda rows: {" ".join(words) for words in k_session_anonymous([frozenset([query]) for _, query in rows], k)}


def _parameter(manifest: dict[str, Any], name: str) -> int:
    value = manifest.get("parameters", {}).get(name)
    if type(value) is not int or value < 1:
        raise InputError("the manifest's parameters are of no mechanism")
    return value


def _zealous(manifest: dict[str, Any]) -> Attacked:
    given, users = manifest["parameters"], manifest["details"]["users"]["value"]
    plan = zealous_plan(
        given["analysis"], given["m"], given["epsilon"], given["delta"], users,
        given["tau"] or None, given["tau_prime"] or None,
    )  # fmt: skip

    def publish(rows: list[Row]) -> set[str]:
        askers = _askers(rows)
        queries = [query for query in askers if query.startswith("from")]
        kept = sanitise(np.array([len(askers[query]) for query in queries], np.int64), plan, OpenDpNoise())
        return {queries[at] for at in kept.index.tolist()}

    bound = best_guess(plan.guarantee.epsilon, plan.guarantee.delta)
    return Attacked(publish, math.ceil(plan.tau_prime) - 1, bound)


_MADE: Final[dict[str, Callable[[dict[str, Any]], Attacked]]] = {
    "k-query": lambda said: Attacked(_over(_parameter(said, "k")), _parameter(said, "k") - 1),
    "k-session": lambda said: Attacked(_sessions(_parameter(said, "k")), _parameter(said, "k") - 1),
    "k-keyword": lambda said: Attacked(
        lambda rows: k_keyword_anonymous(rows, _parameter(said, "k")), _parameter(said, "k") - 1
    ),
    "ka": lambda said: Attacked(_over(_parameter(said, "K") + 1), _parameter(said, "K")),
    "zealous": _zealous,
}
