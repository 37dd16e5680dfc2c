"""What `study all` measures of every release: attack success, what is true of people, utility by task (DESIGN 14).

A measure that does not apply to a kind of release is left out of its result.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from proxid.lab.attacks.registry import Options, run_attacks
from proxid.lab.mechanism import METHODS
from proxid.lab.released_log import Release
from proxid.lab.studies.view import Original, People, View
from proxid.lab.utility.jsd import jensen_shannon

Reals = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
OWNER_ATTACKS = ("rl3", "neighbour", "group-busiest", "informed", "contribution", "em")
"""Attacks of the log lab that name an owner: the thesis's best, DESIGN 14's, the one on microaggregation, profiles."""
LINKED = {"leaf": "leak_share", "alias-link": "linked", "join": "joined"}
"""Attacks on kbuffer's forms that link people or find hidden words, and their figures."""
_CELLS = 4_000_000


def attack_success(lab: Release, seed: int) -> dict[str, Any]:
    """Each owner attack's share of right guesses on the records it attacked, and the best one.

    owner: the very record's owner, for `em` of records that show something below the node; claim: what the release says
    of it; pair: the guessed person issued the published text (coincidences included); links: people joined and words
    found otherwise.
    """
    found: dict[str, Any] = {}
    for name, report in run_attacks(lab, OWNER_ATTACKS, Options(seed=seed)).items():
        if name == "em" and "right" in report:  # over what shows something below the node
            found[name] = {"owner": report["right"]["value"], "pair": math.nan, **report["right"]}
        elif "same_record" in report and lab.exact:
            same, pair = report["same_record"]["of_attacked"], report["pair_linkage"]["of_attacked"]
            found[name] = {"owner": same["value"], "pair": pair["value"], "ci95": same["ci95"]}
    usable = {name: values for name, values in found.items() if values["owner"] == values["owner"]}
    if usable:
        best = max(usable, key=lambda name: usable[name]["owner"])
        found["best"] = {"attack": best, "claim": lab.mechanism.bound, **usable[best]}
        pairs = [values["pair"] for values in usable.values() if not math.isnan(values["pair"])]
        found["best_pair"] = max(pairs, default=math.nan)
    if lab.mechanism.mode not in METHODS:
        links = run_attacks(lab, tuple(LINKED), Options(seed=seed))
        found["links"] = {name: links[name].get(key, math.nan) for name, key in LINKED.items()}
    return found


def true_pairs(original: Original, people: People) -> float:
    """Share of the published (person, full category) pairs that are literally true of the person (DESIGN 8.4.2)."""
    mine = np.unique(_key(original.batch.user, original.batch.category))
    keys, index = np.unique(_key(people.user, people.category), return_inverse=True)
    weight = np.bincount(index, people.weight)
    shown = (keys & 0xFFFFFFFF) != 0xFFFFFFFF
    true = np.isin(keys, mine)
    return float(weight[shown & true].sum() / max(weight[shown].sum(), 1e-9))


def _key(user: npt.NDArray[np.int32], category: npt.NDArray[Any]) -> Longs:
    return (user.astype(np.int64) << 32) | (category.astype(np.int64) & 0xFFFFFFFF)


def profile_losses(original: Original, people: People, levels: tuple[int, ...] = (1, 2)) -> dict[str, float]:
    """JSD of people's profiles at some levels and EMD over the whole tree; nobody's release counts as lost.

    EMD is between distributions, in parts of the tree's widest distance (N1 of DESIGN 14); a person without any
    published record has JSD 1 and the EMD of moving everything to the root.
    """
    tree, users = original.dictionaries.tree, len(original.dictionaries.user)
    mine = People(original.batch.user, original.batch.category, np.ones(len(original.batch)))
    active = np.bincount(mine.user, minlength=users) > 0
    result, moved, depth = {}, np.zeros(users), tree.depth
    for level in range(1, int(depth.max()) + 1):
        above = np.where(depth >= level, tree.ancestors(level), -1)
        sides = [_at_level(side, above) for side in (mine, people)]
        keys = np.union1d(sides[0][0], sides[1][0])
        p, q = (_spread(keys, *side, users) for side in sides)
        moved += np.bincount(keys >> 32, np.abs(p - q), minlength=users)
        if level in levels:
            result[f"jsd_{level}"] = float(_divergence(keys, p, q, users)[active].mean())
    result["emd"] = float(moved[active].mean() / (2 * int(depth.max())))
    published = np.bincount(people.user[people.user >= 0], minlength=users)[:users] > 0
    result["people_without_release"] = float((active & ~published).sum() / active.sum())
    return result


def _at_level(people: People, above: Longs) -> tuple[Longs, Reals, Reals]:
    """Sorted (user, node) keys with their mass, and the mass of every user over all nodes, deep or not."""
    known = people.user >= 0
    user, category, weight = people.user[known], people.category[known], people.weight[known]
    node = np.where(category >= 0, above[category], -1)
    inside = node >= 0
    keys, index = np.unique(_key(user[inside], node[inside]), return_inverse=True)
    mass = np.bincount(index, weight[inside], minlength=len(keys)).astype(np.float64)
    return keys, mass, np.bincount(user, weight).astype(np.float64)


def _spread(keys: Longs, own: Longs, mass: Reals, total: Reals, users: int) -> Reals:
    """Mass at every key as a share of its user's total."""
    whole, placed = np.zeros(users), np.zeros(len(keys))
    whole[: len(total)] = total[:users]
    placed[np.searchsorted(keys, own)] = mass
    shares: Reals = np.divide(placed, whole[keys >> 32], out=np.zeros(len(keys)), where=whole[keys >> 32] > 0)
    return shares


def _divergence(keys: Longs, p: Reals, q: Reals, users: int) -> Reals:
    """JSD of every user; users are looked at in blocks, which bounds the dense tables."""
    nodes, column = np.unique(keys & 0xFFFFFFFF, return_inverse=True)
    step, owner, parts = max(1, _CELLS // max(len(nodes), 1)), keys >> 32, []
    for begin in range(0, users, step):
        low, high = np.searchsorted(owner, [begin, begin + step])
        size = min(step, users - begin)
        cell = (owner[low:high] - begin) * len(nodes) + column[low:high]
        before, after = (np.bincount(cell, s[low:high], minlength=size * len(nodes)).astype(float) for s in (p, q))
        parts.append(jensen_shannon(before.reshape(size, -1), after.reshape(size, -1)))
    return np.concatenate(parts)


def shares(original: Original, view: View) -> dict[str, float]:
    """What of the log's texts is published as it was issued, and how many that name one person (DESIGN 8.7).

    A vanity text is one that one person alone issued, more than once.
    """
    issuers = {item[0]: count for item, count in original.kinds["queries"].items()}
    codes, times = np.unique(original.batch.query, return_counts=True)
    often = {original.dictionaries.query[c] for c, n in zip(codes.tolist(), times.tolist(), strict=True) if n > 1}
    single = {text for text, count in issuers.items() if count == 1}
    known = view.texts & issuers.keys()
    return {
        "rows": view.rows / max(len(original.batch), 1),
        "texts": len(known) / max(len(issuers), 1),
        "single_issuer_texts": len(known & single) / max(len(single), 1),
        "vanity_texts": len(known & single & often) / max(len(single & often), 1),
    }
