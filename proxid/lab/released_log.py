"""What an attack or a metric works on: a log, its release, and what is known about which record is which (DESIGN 14).

Ground truth comes from the sidecar that `proxid release --truth` writes (released row, input row). Without it a
released record's owner is still known where the input leaves one candidate; `known` says for which.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from proxid.errors import InputError
from proxid.lab.logs import NONE, CategoryTree, LogBatch
from proxid.lab.logs.jit import Codes, Columns, Flags, Longs, compiled
from proxid.lab.logs.strings import StringTable
from proxid.lab.mechanism import Mechanism
from proxid.lab.stretches import PairCounts, count_pair, pair_key


@dataclass(slots=True)
class Release:
    """A log, what was released of it, and the truth as far as it is known.

    original and released share dictionaries. node: where each released record waited (its category at ℓ). origin:
    int64 row of the original a released record comes from, -1 unknown. owner: int32 user it comes from, -1 unknown.
    at: int64 number of arrivals read when the record left, -1 unknown. no_text: code of the empty text. texts: the
    texts by code, where an attack may read them. person: user of whom reports say more, -1 for nobody.
    """

    original: LogBatch
    released: LogBatch
    tree: CategoryTree
    mechanism: Mechanism
    no_text: int
    origin: Longs
    owner: Codes
    node: Codes
    original_node: Codes
    exact: bool
    at: Longs
    texts: StringTable | None = None
    cache: dict[str, Any] = field(default_factory=dict)
    person: int = -1

    @property
    def known(self) -> Flags:
        """Released records whose owner is known."""
        result: Flags = self.owner >= 0
        return result

    @property
    def grouped(self) -> bool:
        """Whether the release says which records left together."""
        return bool((self.released.group >= 0).any())


def make_release(
    original: LogBatch,
    released: LogBatch,
    tree: CategoryTree,
    mechanism: Mechanism,
    *,
    no_text: int = NONE,
    origin: Longs | None = None,
    at: Longs | None = None,
    whole_texts: bool = True,
    texts: StringTable | None = None,
) -> Release:
    """Put a release together. Without `origin`, owners are derived, if texts are shown whole or not at all.

    Raises InputError when the parts cannot belong to each other.
    """
    above = tree.ancestors(mechanism.level)
    nodes = [np.where(b.category >= 0, above[b.category], 0).astype(np.int32) for b in (original, released)]
    if origin is not None and len(origin) != len(released):
        raise InputError("the truth file has as many lines as the release has records")
    if origin is not None and len(origin) and not (origin.min() >= -1 and origin.max() < len(original)):
        raise InputError("the truth file names a row that the original does not have")
    unknown = np.full(len(released), -1, np.int64)
    exact = origin is not None
    if origin is None:
        owner = derive_owners(original, released, no_text) if whole_texts else unknown.astype(np.int32)
        origin = unknown
    else:
        owner = np.where(origin >= 0, original.user[origin], -1).astype(np.int32)
    return Release(
        original,
        released,
        tree,
        mechanism,
        no_text,
        origin,
        owner,
        nodes[1],
        nodes[0],
        exact,
        unknown if at is None else at,
        texts,
    )


def with_text(batch: LogBatch, no_text: int) -> Flags:
    """Records that show a text."""
    shown: Flags = (batch.query >= 0) & (batch.query != no_text)
    return shown


def derive_owners(original: LogBatch, released: LogBatch, no_text: int) -> Codes:
    """The owner of every released record that has one candidate in the input, else -1; int32.

    Candidates issued the text; the published user is none (Restriction 4.1), and in a group only members are.
    """
    owner = np.full(len(released), -1, np.int32)
    shown = with_text(released, no_text)
    single = shown & (released.group < 0)
    owner[single] = _sole_issuers(original, released.take(single))
    grouped = np.flatnonzero(shown & (released.group >= 0))
    if len(grouped):
        table = PairCounts()
        keys = np.unique((original.query.astype(np.int64) << 32) | original.user)
        table.reserve(len(keys))
        _insert(table.table, keys)
        bounds = np.concatenate([[0], np.flatnonzero(np.diff(released.group)) + 1, [len(released)]])
        _sole_members(table.table, released.user, np.where(shown, released.query, NONE), bounds, owner)
    owner[(released.group < 0) & ~shown] = -1
    return owner


def _sole_issuers(original: LogBatch, released: LogBatch) -> Codes:
    """The one user other than the published one who issued the text, or -1."""
    keys = np.unique((original.query.astype(np.int64) << 32) | original.user)
    text, user = keys >> 32, (keys & 0xFFFFFFFF).astype(np.int32)
    first = np.searchsorted(text, released.query, "left")
    count = np.searchsorted(text, released.query, "right") - first
    last = np.maximum(len(user) - 1, 0)
    one, two = (user[np.minimum(first + step, last)] if len(user) else released.user for step in (0, 1))
    sole = np.where((count == 1) & (one != released.user), one, -1)
    other = np.where(one == released.user, two, np.where(two == released.user, one, -1))
    return np.where(count == 2, other, sole).astype(np.int32)


@compiled
def _insert(table: Columns, keys: Longs) -> None:
    for key in keys:
        count_pair(table, key, 1)


@compiled
def _sole_members(table: Columns, user: Codes, query: Codes, bounds: Longs, owner: Codes) -> None:
    """For records of groups: the one other member who issued the text, or -1."""
    for g in range(len(bounds) - 1):
        for i in range(bounds[g], bounds[g + 1]):
            found = 0
            if query[i] < 0:
                continue
            for j in range(bounds[g], bounds[g + 1]):
                if user[j] != user[i] and count_pair(table, pair_key(query[i], user[j]), 0) > 0:
                    found += 1
                    owner[i] = user[j]
            if found != 1:
                owner[i] = -1


def origin_column(pairs: Longs, released_rows: int, original: LogBatch) -> Longs:
    """Positions in the original for every released row, from the sidecar's (released row, input row) pairs.

    Raises InputError when a pair names a row that does not exist.
    """
    origin = np.full(released_rows, -1, np.int64)
    if len(pairs) and not (pairs[:, 0].min() >= 0 and pairs[:, 0].max() < released_rows):
        raise InputError("the truth file names a released row that the release does not have")
    order = np.argsort(original.row, kind="stable")
    place = np.minimum(np.searchsorted(original.row[order], pairs[:, 1]), max(len(original) - 1, 0))
    position = order[place] if len(original) else place
    if len(pairs) and (not len(original) or (original.row[position] != pairs[:, 1]).any()):
        raise InputError("the truth file names a row that the original does not have")
    origin[pairs[:, 0]] = position
    return origin
