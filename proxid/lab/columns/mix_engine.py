"""The engine of mode `mix` on columns: arrays for the compiled loop, epochs, the ladder (DESIGN 8.4-8.7)."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from proxid.anonymise.mix.settings import Settings
from proxid.lab.columns import queues as waiting
from proxid.lab.columns.engine import ColumnEngine, grow_free
from proxid.lab.columns.ladder import Ladder
from proxid.lab.columns.mix import mix_columns
from proxid.lab.columns.random import WordSource
from proxid.lab.columns.released import Released, make_released
from proxid.lab.columns.text import Texts
from proxid.lab.logs.batch import Dictionaries, LogBatch
from proxid.lab.logs.jit import Codes, Columns, Longs

_NEVER = np.int64(1 << 62)
_REASONS = ("repeated", "capped", "expired", "epoch_end")


class MixEngine(ColumnEngine):
    """Mode `mix` with its ladder; see `columns.mix_engine`."""

    columns_of_slot = 10
    query_column, url_column, next_column = waiting.QUERY, waiting.URL, waiting.NEXT
    _done_scalar, _pending_scalar, _free_scalar = waiting.DONE, waiting.PENDING, waiting.FREE_SLOT

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
        self._scalars[[waiting.FREE_SLOT, waiting.FREE_QUEUE, waiting.FIRST, waiting.LAST, waiting.PENDING]] = -1
        self._longs, self._times = np.zeros((0, 3), np.int64), np.zeros(0, np.float64)
        self._queues: Codes = np.empty((0, 7), np.int32)
        self._nodes: Codes = np.empty((0, 2), np.int32)
        self._clock, self._withheld = np.zeros(2, np.float64), np.zeros(len(_REASONS), np.int64)
        self._room = tuple(np.empty(settings.n, np.int32) for _ in range(3))
        self._epoch: int | None = None
        self._timed = False
        self._largest = max(4096, settings.n)
        self._queries = dictionaries.query
        never, cap = settings.max_delay_records, settings.person_cap
        whole = [settings.n, cap or _NEVER, never or _NEVER, settings.time_bucket_s, int(ladder)]
        self._params = (np.array(whole, np.int64), np.array([settings.max_delay_s or np.inf], np.float64))

    @property
    def waiting(self) -> int:
        """Records that wait."""
        return int(self._scalars[waiting.WAITING])

    @property
    def groups(self) -> int:
        """Groups formed so far."""
        return int(self._scalars[waiting.GROUPS])

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
        arrays = (self._slots, self._longs, self._times, self._queues, self._nodes)
        return sum(array.nbytes for array in arrays) + self._pairs.nbytes

    @property
    def nbytes(self) -> int:
        """Bytes held for waiting records and for the ladder."""
        return self.nbytes_waiting + self.ladder_state.get("ladder_bytes", 0)

    def finish(self) -> Released:
        """End the epoch: what still waits is suppressed, and the ladder forgets."""
        waiting.drain(self._state(), waiting.EPOCH_END)
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

    def _begin_clock(self, batch: LogBatch) -> None:
        """Let the clock begin with the first time that there is, also for the records that came without one before."""
        known = batch.time[~np.isnan(batch.time)]
        if not self._timed and len(known):
            self._timed, self._clock[0] = True, known[0]
            self._times[self._live()] = known[0]

    def _parts(self, batch: LogBatch) -> Iterator[LogBatch]:
        self._begin_clock(batch)
        if self.epoch_s is None or not self._timed:
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
        waiting.list_waiting(self._state(), found)
        return found

    def _prepare(self, batch: LogBatch) -> None:
        tree, wanted = self.dictionaries.tree, self.waiting + len(batch)
        if len(tree) != self._categories:
            self._categories, self._starts = len(tree), tree.ancestors(self.settings.level)
            self._parents = tree.parent
            fresh = np.zeros((len(tree), 2), np.int32)
            fresh[:, 0] = waiting.NOWHERE
            fresh[: len(self._nodes)] = self._nodes
            self._nodes = fresh
        self._grow_slots(wanted)
        self._queues = grow_free(self._queues, wanted, waiting.HEAD, self._scalars, waiting.FREE_QUEUE)
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
        written = mix_columns(columns, self._state(), tree, self._params, random, self._ladder.arrays, out)
        self._collect()
        return int(written)


def _secret(seed: int | None) -> int:
    """Seed of the ladder's digests: secret unless the run is an experiment."""
    words = WordSource(seed)
    words.refill(2)
    return int(words.words[0]) | int(words.words[1]) << 32
