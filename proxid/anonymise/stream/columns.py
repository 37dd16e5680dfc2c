"""The streaming mechanisms on columns: what files go through (DESIGN 8, 13).

`mix_engine` obeys the rules of `pool.Pool` (a test holds the two to the same groups), `thesis_engine` and
`thesis3_engine` those of `thesis.Thesis` and `thesis3.Thesis3`. Memory follows what waits and, with the ladder, the
distinct texts; the texts themselves are kept for waiting records alone (`forget_texts`).
"""

from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np

from proxid.anonymise.stream import columns_mix as mix
from proxid.anonymise.stream import columns_thesis as thesis
from proxid.anonymise.stream.columns_ladder import Ladder
from proxid.anonymise.stream.columns_map import PairMap
from proxid.anonymise.stream.columns_random import WordSource
from proxid.anonymise.stream.columns_text import Texts
from proxid.anonymise.stream.released import Released, make_released
from proxid.anonymise.stream.settings import Settings
from proxid.errors import ConfigError
from proxid.logs.batch import NONE, Dictionaries, LogBatch
from proxid.logs.jit import Codes, Columns, Longs
from proxid.logs.strings import StringTable

_NEVER = np.int64(1 << 62)
_REASONS = ("repeated", "capped", "expired", "epoch_end")
_CHUNK = 1 << 16


class ColumnEngine:
    """What all engines share: slots of waiting records, a supply of random words, counts."""

    columns_of_slot = 0
    _largest = 4096
    query_column, url_column, next_column = 0, 0, 0

    def __init__(self, dictionaries: Dictionaries, seed: int | None) -> None:
        self.dictionaries = dictionaries
        self.suppressed: dict[str, int] = {}
        self._random = WordSource(seed)
        self._pairs = PairMap()
        self._slots: Codes = np.empty((0, self.columns_of_slot), np.int32)
        self._scalars: Longs = np.zeros(16, np.int64)
        self._categories = -1
        self._starts: Codes = np.empty(0, np.int32)

    @property
    def waiting(self) -> int:
        """Records that wait."""
        raise NotImplementedError

    @property
    def nbytes(self) -> int:
        """Bytes held for waiting records and for what is remembered of texts."""
        raise NotImplementedError

    def feed(self, batch: LogBatch) -> Released:
        """Take a batch and return what leaves because of it."""
        filed = batch.category >= 0
        if not filed.all():
            self._count("no category", len(batch) - int(filed.sum()))
            batch = batch.take(filed)
        parts = [self._run(part) for part in self._parts(batch)]
        return parts[0] if len(parts) == 1 else Released.concatenate(parts)

    def finish(self) -> Released:
        """End the log: what still waits is suppressed."""
        self._count("epoch_end", self.waiting)
        return make_released(0)

    def forget_texts(self) -> None:
        """Number texts and URLs anew, keeping those of waiting records: memory follows what waits."""
        live = self._live()
        for column, name in ((self.query_column, "query"), (self.url_column, "url")):
            fresh, codes = StringTable(), self._slots[live, column]
            old: StringTable = getattr(self.dictionaries, name)
            kept = np.unique(codes[codes >= 0])
            numbers = np.full(len(old) + 1, NONE, np.int32)
            numbers[kept] = fresh.encode(old.decode(kept))
            self._slots[live, column] = numbers[codes]
            setattr(self.dictionaries, name, fresh)

    def _count(self, reason: str, records: int) -> None:
        if records:
            self.suppressed[reason] = self.suppressed.get(reason, 0) + records

    def _parts(self, batch: LogBatch) -> Iterator[LogBatch]:
        """The batch in pieces of bounded size."""
        for first in range(0, len(batch), _CHUNK):
            yield batch.take(slice(first, first + _CHUNK))

    def _live(self) -> Longs:
        raise NotImplementedError

    def _prepare(self, batch: LogBatch) -> None:
        raise NotImplementedError

    def _step(self, columns: Columns, out: Columns) -> int:
        raise NotImplementedError

    def _run(self, batch: LogBatch) -> Released:
        self._prepare(batch)
        columns = (batch.user, batch.query, batch.category, batch.time, batch.rank, batch.url, batch.row)
        parts: list[Released] = []
        done = False
        while not done:
            self._random.refill(self._largest * 4 + 4096)
            out = make_released(len(batch) + self._largest)
            written = self._step(columns, tuple(getattr(out, f.name) for f in fields(out)))
            done = self._is_done(len(batch))
            if written or not parts:
                parts.append(Released(*(getattr(out, f.name)[:written] for f in fields(out))))
        self._scalars[self._done_scalar] = 0
        return parts[0] if len(parts) == 1 else Released.concatenate(parts)

    _done_scalar, _pending_scalar, _free_scalar = 0, 0, 0

    def _is_done(self, records: int) -> bool:
        return bool(self._scalars[self._done_scalar] >= records and self._scalars[self._pending_scalar] < 0)

    def _grow_slots(self, wanted: int) -> None:
        """Make room for so many slots, the new ones in the free list."""
        self._slots = _grow_free(self._slots, wanted, self.next_column, self._scalars, self._free_scalar)


def _grow_free(items: Codes, wanted: int, link: int, scalars: Longs, head: int) -> Codes:
    """More rows of an array whose free rows form a list through column `link` from scalars[head] on."""
    have = len(items)
    if have >= wanted:
        return items
    size = max(wanted, have * 5 // 4)
    grown = np.full((size, items.shape[1]), -1, np.int32)
    grown[:have] = items
    grown[have:, link] = np.arange(have + 1, size + 1)
    grown[size - 1, link] = scalars[head] if have else -1
    scalars[head] = have
    return grown


class MixEngine(ColumnEngine):
    """Mode `mix` with its ladder; see `mix_engine`."""

    columns_of_slot = 10
    query_column, url_column, next_column = mix.QUERY, mix.URL, mix.NEXT
    _done_scalar, _pending_scalar, _free_scalar = mix.DONE, mix.PENDING, mix.FREE_SLOT

    def __init__(
        self,
        dictionaries: Dictionaries,
        settings: Settings,
        *,
        ladder: bool,
        clicks: bool,
        epoch_s: float | None,
        seed: int | None,
    ) -> None:
        super().__init__(dictionaries, seed)
        self.settings, self.epoch_s, self.with_ladder = settings, epoch_s, ladder
        self._texts = Texts(_secret(seed), clicks=clicks)
        self._ladder = Ladder(settings.text_threshold, self._texts)
        self._scalars[[mix.FREE_SLOT, mix.FREE_QUEUE, mix.FIRST, mix.LAST, mix.PENDING]] = -1
        self._longs, self._times = np.zeros((0, 3), np.int64), np.zeros(0, np.float64)
        self._queues: Codes = np.empty((0, 7), np.int32)
        self._nodes: Codes = np.empty((0, 2), np.int32)
        self._clock, self._withheld = np.zeros(1, np.float64), np.zeros(len(_REASONS), np.int64)
        self._room = tuple(np.empty(settings.n, np.int32) for _ in range(3))
        self._epoch: int | None = None
        self._largest = max(4096, settings.n)
        self._queries = dictionaries.query
        never, cap = settings.max_delay_records, settings.person_cap
        whole = [settings.n, cap or _NEVER, never or _NEVER, settings.time_bucket_s, int(ladder)]
        self._params = (np.array(whole, np.int64), np.array([settings.max_delay_s or np.inf], np.float64))

    @property
    def waiting(self) -> int:
        """Records that wait."""
        return int(self._scalars[mix.WAITING])

    @property
    def groups(self) -> int:
        """Groups formed so far."""
        return int(self._scalars[mix.GROUPS])

    @property
    def ladder_state(self) -> dict[str, int]:
        """Bytes of the ladder, distinct texts, distinct texts and units that it counts in this epoch."""
        if not self.with_ladder:
            return {}
        ladder = self._ladder
        nbytes = ladder.nbytes + self._texts.nbytes
        return {"ladder_bytes": nbytes, "ladder_texts": ladder.texts_known, "ladder_known": ladder.known}

    @property
    def nbytes_waiting(self) -> int:
        """Bytes held for waiting records, their texts left out."""
        waiting = self._slots.nbytes + self._longs.nbytes + self._times.nbytes + self._queues.nbytes
        return waiting + self._pairs.nbytes + self._nodes.nbytes

    @property
    def nbytes(self) -> int:
        """Bytes held for waiting records and for the ladder."""
        return self.nbytes_waiting + self.ladder_state.get("ladder_bytes", 0)

    def finish(self) -> Released:
        """End the epoch: what still waits is suppressed, and the ladder forgets."""
        mix.drain(self._state(), mix.EPOCH_END)
        self._collect()
        self._ladder = Ladder(self.settings.text_threshold, self._texts)
        return make_released(0)

    def forget_texts(self) -> None:
        """Number texts and URLs anew, keeping those of waiting records."""
        super().forget_texts()
        self._texts.forget()

    def _collect(self) -> None:
        for reason, records in zip(_REASONS, self._withheld.tolist(), strict=True):
            self._count(reason, records)
        self._withheld[:] = 0

    def _parts(self, batch: LogBatch) -> Iterator[LogBatch]:
        if self.epoch_s is None or not len(batch):
            yield from super()._parts(batch)
            return
        times = np.where(np.isnan(batch.time), -np.inf, batch.time)
        clock = np.maximum.accumulate(np.maximum(times, self._clock[0]))
        epochs = (clock // self.epoch_s).astype(np.int64)
        edges = [0, *(np.flatnonzero(np.diff(epochs)) + 1).tolist(), len(batch)]
        for first, last in pairwise(edges):
            if self._epoch is not None and epochs[first] != self._epoch:
                self.finish()
            self._epoch = int(epochs[first])
            yield from super()._parts(batch.take(slice(first, last)))

    def _live(self) -> Longs:
        found = np.empty(self.waiting, np.int64)
        mix.list_waiting(self._state(), found)
        return found

    def _prepare(self, batch: LogBatch) -> None:
        tree, wanted = self.dictionaries.tree, self.waiting + len(batch)
        if len(tree) != self._categories:
            self._categories, self._starts = len(tree), tree.ancestors(self.settings.level)
            self._parents = tree.parent
            fresh = np.zeros((len(tree), 2), np.int32)
            fresh[:, 0] = mix.NOWHERE
            fresh[: len(self._nodes)] = self._nodes
            self._nodes = fresh
        self._grow_slots(wanted)
        self._queues = _grow_free(self._queues, wanted, mix.HEAD, self._scalars, mix.FREE_QUEUE)
        if len(self._longs) < len(self._slots):
            more = len(self._slots) - len(self._longs)
            self._longs = np.append(self._longs, np.zeros((more, 3), np.int64), axis=0)
            self._times = np.append(self._times, np.zeros(more, np.float64))
        self._pairs.reserve(wanted)
        if self.with_ladder:
            self._texts.learn(self.dictionaries.query, self.dictionaries.url)
            self._ladder.reserve(len(batch), self._texts.units_of(batch.query))

    def _state(self) -> Columns:
        pairs = self._pairs
        arrays = (self._slots, self._longs, self._times, self._queues, self._nodes, pairs.keys, pairs.values)
        return (*arrays, self._scalars, self._clock, self._withheld)

    def _step(self, columns: Columns, out: Columns) -> int:
        random = (self._random.words, self._random.used, *self._room)
        tree = (self._starts, self._parents)
        written = mix.mix_columns(columns, self._state(), tree, self._params, random, self._ladder.arrays, out)
        self._collect()
        return int(written)


class ThesisEngine(ColumnEngine):
    """Modes `thesis` (δ is None) and `thesis3`; see `thesis_engine`, `thesis3_engine`."""

    columns_of_slot = 6
    query_column, url_column, next_column = thesis.QUERY, thesis.URL, thesis.NEXT
    _done_scalar, _pending_scalar, _free_scalar = thesis.DONE, thesis.PENDING, thesis.FREE_SLOT

    def __init__(self, dictionaries: Dictionaries, k: int, level: int, delta: float | None, seed: int | None) -> None:
        super().__init__(dictionaries, seed)
        self.k, self.level, self.delta = k, level, delta
        self._scalars[[thesis.FREE_SLOT, thesis.PENDING]] = -1
        self._rows: Longs = np.empty(0, np.int64)
        self._vertices: Longs = np.empty((0, 5), np.int64)
        self._entries: Codes = np.empty(1 << 12, np.int32)
        self._queries: Codes = np.empty(1 << 12, np.int32)

    @property
    def waiting(self) -> int:
        """Records that wait."""
        return int(self._scalars[thesis.WAITING])

    @property
    def limits(self) -> Longs:
        """The k of every vertex: `thesis3` lets it grow."""
        return self._vertices[:, thesis.LIMIT]

    @property
    def nbytes(self) -> int:
        """Bytes held for waiting records."""
        arrays = (self._slots, self._rows, self._vertices, self._entries, self._queries)
        return sum(array.nbytes for array in arrays) + self._pairs.nbytes

    def _live(self) -> Longs:
        parts = [
            self._queries[begin : begin + length]
            for begin, length in self._vertices[self._vertices[:, thesis.LENGTH] > 0][:, [thesis.BEGIN, thesis.LENGTH]]
        ]
        return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)

    def _prepare(self, batch: LogBatch) -> None:
        tree, wanted = self.dictionaries.tree, self.waiting + len(batch)
        if len(tree) != self._categories:
            self._categories, self._starts = len(tree), tree.ancestors(self.level)
            fresh = np.zeros((len(tree), 5), np.int64)
            fresh[:, thesis.LIMIT] = self.k
            fresh[: len(self._vertices)] = self._vertices
            self._vertices = fresh
        self._grow_slots(wanted)
        if len(self._rows) < len(self._slots):
            self._rows = np.append(self._rows, np.zeros(len(self._slots) - len(self._rows), np.int64))
        self._pairs.reserve(wanted)

    def _step(self, columns: Columns, out: Columns) -> int:
        if wanted := int(self._scalars[thesis.WANTED]):
            size = max(int(self._scalars[thesis.UNUSED]) + wanted, len(self._entries) * 3 // 2)
            self._entries = np.append(self._entries, np.empty(size - len(self._entries), np.int32))
            self._queries = np.append(self._queries, np.empty(size - len(self._queries), np.int32))
            self._scalars[thesis.WANTED] = 0
        pairs = self._pairs
        arrays = (self._slots, self._rows, self._vertices, self._entries, self._queries, pairs.keys, pairs.values)
        words = (self._random.words, self._random.used)
        run: Callable[..., Any] = thesis.thesis_columns if self.delta is None else thesis.thesis3_columns
        parameter = self.k if self.delta is None else self.delta
        return int(run(columns, (*arrays, self._scalars), self._starts, parameter, words, out))


def mix_engine(
    dictionaries: Dictionaries,
    settings: Settings,
    *,
    ladder: bool = True,
    clicks: bool = False,
    epoch_s: float | None = None,
    seed: int | None = None,
) -> MixEngine:
    """Mode `mix` (DESIGN 8.4-8.7): one audience, everybody seasoned; without an epoch the log is one.

    Without the ladder texts are shown whole and one person may repeat a text: what 8.4.2 then loses is the caller's
    to say. With `clicks`, URL and rank pass the ladder too; else they are dropped. A seed is for experiments.
    """
    if epoch_s is not None and not epoch_s > 0:
        raise ConfigError("epoch must be positive")
    return MixEngine(dictionaries, settings, ladder=ladder, clicks=clicks, epoch_s=epoch_s, seed=seed)


def thesis_engine(dictionaries: Dictionaries, k: int, level: int, *, seed: int | None = None) -> ThesisEngine:
    """Algorithm 4 (002 §4.2.5). Raises ConfigError for k < 1 or a negative level."""
    if k < 1 or level < 0:
        raise ConfigError("k must be at least 1 and level at least 0")
    return ThesisEngine(dictionaries, k, level, None, seed)


def thesis3_engine(
    dictionaries: Dictionaries, k: int, level: int, *, delta: float = 1.2, seed: int | None = None
) -> ThesisEngine:
    """Algorithm 2 (002 §3.3.4.2). Raises ConfigError for k < 1, a negative level or δ ≤ 1."""
    if k < 1 or level < 0 or not delta > 1:
        raise ConfigError("k must be at least 1, level at least 0 and delta above 1")
    return ThesisEngine(dictionaries, k, level, delta, seed)


def _secret(seed: int | None) -> int:
    """Seed of the ladder's digests: secret unless the run is an experiment."""
    words = WordSource(seed)
    words.refill(2)
    return int(words.words[0]) | int(words.words[1]) << 32


def anonymise(batch: LogBatch, engine: ColumnEngine) -> tuple[LogBatch, Longs]:
    """Run a whole log through an engine: the released log and, for each record, the row whose arrival released it.

    In the released log `row` is the row of the original record (secret) and `query` the code of what is shown, which
    is added to the dictionaries when it is a part of a text ("" where no text is shown).
    """
    released = Released.concatenate([engine.feed(batch), engine.finish()])
    return shown_log(released, engine.dictionaries), released.at


def shown_log(released: Released, dictionaries: Dictionaries) -> LogBatch:
    """Released columns as a log: parts of texts become texts of their own in the dictionaries."""
    query = released.query.copy()
    cut = np.flatnonzero((query < 0) | (released.size >= 0))
    texts = dictionaries.query
    query[cut] = [
        texts.code(_part(texts, *which))
        for which in zip(query[cut].tolist(), released.start[cut].tolist(), released.size[cut].tolist(), strict=True)
    ]
    r = released
    return LogBatch(r.user, query, r.category, r.time, r.rank, r.url, r.row, r.group)


def _part(texts: StringTable, code: int, start: int, size: int) -> str:
    return texts[code].encode()[start : start + size].decode() if code >= 0 else ""
