"""Words of a query that its category path says, though too few people are behind them.

The tail of a path goes down to a noun of the query: where under min_text_users + m people's records carry the path so
far, its last word is theirs alone, and the ladder that hides the same word in the text hides nothing.
"""

import re
from collections import Counter
from typing import Any

import numpy as np

from proxid.lab.attacks.in_rounds import visible_records
from proxid.lab.attacks.registry import Options
from proxid.lab.logs import CategoryTree
from proxid.lab.logs.jit import Codes, Longs
from proxid.lab.released_log import Release

_WORD = re.compile(r"[^\W\d_]+")


def carriers(tree: CategoryTree, user: Codes, category: Codes) -> Longs:
    """Distinct people whose records carry each node of the tree in their path."""
    kept = category >= 0
    pairs = np.unique((category[kept].astype(np.int64) << 32) | user[kept])
    found = [pairs]
    while len(pairs):
        above = tree.parent[pairs >> 32].astype(np.int64)
        pairs = np.unique((above[above >= 0] << 32) | (pairs[above >= 0] & 0xFFFFFFFF))
        found.append(pairs)
    return np.bincount(np.unique(np.concatenate(found)) >> 32, minlength=len(tree))


def _words(text: str) -> set[str]:
    """The words of a text, small, with and without the s of a plural."""
    words = {word.lower() for word in _WORD.findall(text)}
    return words | {word[:-1] for word in words if word.endswith("s")} | {word + "s" for word in words}


def rare_words(tree: CategoryTree, node: int, level: int, carried: Longs, least: int) -> set[str]:
    """Words of the path's parts below the level that fewer than `least` people's records carry."""
    found: set[str] = set()
    while node > 0 and tree.depth[node] > level:
        if carried[node] < least:
            found |= {word.lower() for word in _WORD.findall(tree.paths[node].rpartition("/")[2])}
        node = int(tree.parent[node])
    return found


def leaf(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The attack as `proxid attack` calls it."""
    if not release.exact or release.texts is None:
        return {"reason": "needs the truth file"}
    if release.mechanism.mode == "split":
        rows, seen = visible_records(release)
        said = [seen.texts[code] if code >= 0 else "" for code in seen.text.tolist()]
        return _leaf(release, release.origin[rows], seen.category, said)
    shown = release.released
    rows = np.flatnonzero(release.origin >= 0)
    return _leaf(release, release.origin[rows], shown.category[rows], [_text(release, c) for c in shown.query[rows]])


def _leaf(release: Release, origin: Longs, category: Codes, said: list[str]) -> dict[str, Any]:
    """Count leaks of released records: row of the input, category and text shown of each."""
    tree, level = release.tree, release.mechanism.level
    least = release.mechanism.min_text_users + release.mechanism.margin
    carried = carriers(tree, release.original.user, release.original.category)
    deep = np.flatnonzero((category >= 0) & (tree.depth[category] > level))
    asked = release.original.query[origin]
    seen = Counter((int(category[row]), int(asked[row]), said[row]) for row in deep.tolist())
    leaks = alone = 0
    for (node, query, text), count in seen.items():
        rare = rare_words(tree, node, level, carried, least)
        if rare and rare & (_words(_text(release, query)) - _words(text)):
            leaks += count
            alone += count if carried[node] == 1 else 0
    return {
        "covered_by_theorem": False,
        "least_people": least,
        "paths_below_node": len(deep),
        "leaks": leaks,
        "of_one_person": alone,
        "leak_share": leaks / len(deep) if len(deep) else 0.0,
    }


def _text(release: Release, code: int) -> str:
    return release.texts[code] if release.texts is not None and code >= 0 else ""
