"""Somebody's own log among synthetic people: would one be found in such a crowd? (DESIGN 13)

Texts, their order and the time of day stay as they are. Days are moved into the synthetic log's, and categories into
its tree: a person's most frequent category takes the place of the tree's most popular one, level by level, so that
there is a crowd to hide in, as there would be in a log of people who ask about the same world.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from proxid.errors import InputError
from proxid.lab.logs.base import Classifier
from proxid.lab.logs.batch import NONE, Dictionaries, LogBatch, empty_batch
from proxid.lab.logs.files import open_log
from proxid.lab.logs.jit import Codes, Reals
from proxid.lab.logs.synth.forest import Forest, load_forest
from proxid.lab.logs.synth.shape import START, Shape

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class OwnLog:
    """Records of real people in order of time: user and text, node of the synthetic tree or -1, seconds since START."""

    users: Sequence[str]
    texts: Sequence[str]
    category: Codes
    time: Reals

    def __len__(self) -> int:
        return len(self.texts)


def read_own(paths: Iterable[Path], classifier: Classifier, shape: Shape) -> OwnLog:
    """Logs of people, filed and moved into the time and tree of a synthetic log.

    Raises:
        InputError: a log cannot be read, has no times, or has a user that a synthetic one may be called.
    """
    known, batches = Dictionaries(), []
    for path in paths:
        with open_log(path, dictionaries=known, classifier=classifier) as log:
            batches += list(log)
    batch = LogBatch.concatenate(batches)
    if not len(batch) or np.isnan(batch.time).any():
        raise InputError("--with: a log of people who are mixed in has records, and each of them a time")
    users = known.user.decode(batch.user)
    if any(user.isdecimal() for user in users):
        raise InputError("--with: synthetic people are called by numbers: give those who are mixed in a name")
    order = np.argsort(time := _moved(batch.time, shape.seconds), kind="stable")
    node_of = graft(Counter(known.category.decode(batch.category[batch.category >= 0])))
    paths_of = ["" if node < 0 else known.category[node] for node in batch.category.tolist()]
    category = np.array([node_of.get(path, NONE) for path in paths_of], np.int32)
    texts = known.query.decode(batch.query)
    places = order.tolist()
    return OwnLog([users[at] for at in places], [texts[at] for at in places], category[order], time[order])


def _moved(time: Reals, span: float) -> Reals:
    """Seconds since the log's first day: the time of day stays; what spans more days than the log is folded."""
    since = time - np.floor(time.min() / _DAY) * _DAY
    whole = np.floor(span / _DAY) * _DAY
    moved: Reals = since % whole if whole else since % max(span, 1.0)
    return moved


def graft(counts: Counter[str]) -> dict[str, int]:
    """The synthetic node that takes the place of each path, given how many records have it.

    Children of a node by their records, the popular first, take the synthetic children by their popularity; a path that
    is deeper than the synthetic tree ends where that does.
    """
    forest = load_forest()
    records: Counter[str] = Counter()
    for path, count in counts.items():
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            records["/".join(parts[:depth])] += count
    node_of, taken = {"": 0}, Counter[str]()
    for path in sorted(records, key=lambda p: (p.count("/"), -records[p], p)):
        above = path.rpartition("/")[0]
        children = _by_popularity(forest, node_of[above])
        node_of[path] = children[min(taken[above], len(children) - 1)] if children else node_of[above]
        taken[above] += 1
    return node_of


def _by_popularity(forest: Forest, node: int) -> list[int]:
    children = np.flatnonzero(forest.parent == node)
    places = forest.place[children]
    weight = forest.cumulated[places + forest.size[children]] - forest.cumulated[places]
    found: list[int] = children[np.argsort(-weight, kind="stable")].tolist()
    return found


def mixed(batches: Iterable[LogBatch], own: OwnLog, known: Dictionaries) -> Iterator[LogBatch]:
    """The synthetic log with the own records at their times; `known` is the synthetic log's."""
    done, written = 0, 0
    for batch in batches:
        done, both = _with(batch, own, known, done, float(batch.time[-1]) if len(batch) else -np.inf)
        yield _numbered(both, written)
        written += len(both)
    _, rest = _with(empty_batch(), own, known, done, np.inf)
    yield _numbered(rest, written)


def _with(batch: LogBatch, own: OwnLog, known: Dictionaries, done: int, until: float) -> tuple[int, LogBatch]:
    end = int(np.searchsorted(own.time, until - START, "right"))
    if end <= done:
        return done, batch
    none = np.full(end - done, NONE, np.int32)
    columns: tuple[Any, ...] = (
        known.user.encode(own.users[done:end]), known.query.encode(own.texts[done:end]), own.category[done:end],
        np.floor(START + own.time[done:end]), none, none, np.zeros(end - done, np.int64), none,
    )  # fmt: skip
    both = LogBatch.concatenate([batch, LogBatch(*columns)])
    return end, both.take(np.argsort(both.time, kind="stable"))


def _numbered(batch: LogBatch, first: int) -> LogBatch:
    row = np.arange(first, first + len(batch), dtype=np.int64)
    return LogBatch(batch.user, batch.query, batch.category, batch.time, batch.rank, batch.url, row, batch.group)
