"""A synthetic log as a stream of batches in order of time; a batch costs the same however long the log is."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from proxid.lab.logs.batch import Dictionaries, LogBatch
from proxid.lab.logs.jit import Bytes, Codes, Hashes, Reals
from proxid.lab.logs.strings import StringTable
from proxid.lab.logs.synth.forest import load_forest, plant
from proxid.lab.logs.synth.people import FAVOURITES, SESSION, pick_favourites, simulate
from proxid.lab.logs.synth.shape import START, Shape
from proxid.lab.logs.synth.texts import LONGEST, write_texts, write_urls
from proxid.lab.logs.synth.words import load_words

_CHUNK = 1 << 16
_Rows = tuple[np.ndarray, ...]


def synthesise(shape: Shape, known: Dictionaries, *, fresh_texts: bool = False) -> Iterator[LogBatch]:
    """The log, in order of time; `known` must be empty and is filled.

    With `fresh_texts` the texts and URLs are numbered anew for every batch, so that memory does not grow.
    """
    plant(known.tree)
    known.user.encode([str(1_000_000 + 3 * user + user % 3) for user in range(shape.users)])
    odds, world = _odds(shape), _world(shape)
    rng: Hashes = np.array([0, shape.seed], np.uint64)
    clock: Reals = np.zeros(2)
    held, made, written = _empty_rows(0), 0, 0
    while made < shape.rows or len(held[0]):
        more = min(_CHUNK, shape.rows - made)
        rows = tuple(np.concatenate([old, new]) for old, new in zip(held, _empty_rows(more), strict=True))
        simulate(rng, odds, world, clock, rows, len(held[0]), len(rows[0]))
        made += more
        order = np.argsort(rows[4], kind="stable")
        ready = int(np.searchsorted(rows[4][order], clock[0])) if made < shape.rows else len(order)
        held = tuple(column[order[ready:]] for column in rows)
        if fresh_texts:
            known.query, known.url = StringTable(), StringTable()
        yield _batch(tuple(column[order[:ready]] for column in rows), known, written)
        written += ready


def synth_log(rows: int, users: int, seed: int, **more: float) -> tuple[LogBatch, Dictionaries]:
    """A whole log in memory."""
    known = Dictionaries()
    shape = replace(Shape(rows, users, seed), **more)  # type: ignore[arg-type]
    return LogBatch.concatenate(list(synthesise(shape, known))), known


def _odds(shape: Shape) -> Reals:
    pause = shape.seconds * SESSION / max(1, shape.rows)
    shares = (shape.repeat, shape.fresh, shape.personal, shape.navigation, shape.vanity, shape.clicked)
    return np.array([*shares, pause])


def _world(shape: Shape) -> tuple[object, ...]:
    """(forest, favourites, cumulated activity)."""
    forest = load_forest().arrays
    favourites: Codes = np.full((shape.users, FAVOURITES), -1, np.int32)
    pick_favourites(np.uint64(shape.seed), forest, favourites)
    activity = np.random.default_rng([shape.seed, 1]).lognormal(0.0, shape.sigma, shape.users)
    return forest, favourites, np.cumsum(activity / activity.sum())


def _empty_rows(n: int) -> _Rows:
    """(person, kind, id, category, time, rank, URL)."""
    kinds = (np.int32, np.int32, np.uint64, np.int32, np.float64, np.int32, np.uint64)
    return tuple(np.empty(n, kind) for kind in kinds)


def _batch(rows: _Rows, known: Dictionaries, first: int) -> LogBatch:
    person, kind, text, category, time, rank, url = rows
    count, words = len(person), load_words().arrays
    out: Bytes = np.empty(count * LONGEST, np.uint8)
    bounds = np.zeros(count + 1, np.int64)
    write_texts(kind, text, category, words, load_forest().arrays, out, bounds)
    query = known.query.encode_bytes(out, bounds)
    clicked = np.flatnonzero(rank >= 0)
    urls = np.full(count, -1, np.int32)
    ends = np.zeros(len(clicked) + 1, np.int64)
    write_urls(url[clicked], words, out, ends)
    urls[clicked] = known.url.encode_bytes(out, ends)
    row = np.arange(first, first + count, dtype=np.int64)
    return LogBatch(person, query, category, np.floor(START + time), rank, urls, row, np.full(count, -1, np.int32))
