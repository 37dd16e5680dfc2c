"""The engine of modes `thesis` and `thesis3` on columns: arrays for the compiled loops (DESIGN 8.2)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from proxid.lab.columns import thesis
from proxid.lab.columns.engine import ColumnEngine
from proxid.lab.logs.batch import Dictionaries, LogBatch
from proxid.lab.logs.jit import Codes, Columns, Longs


class ThesisEngine(ColumnEngine):
    """Modes `thesis` (δ is None) and `thesis3`; see `columns.thesis_engine`, `columns.thesis3_engine`."""

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
        begin, length = self._vertices[:, thesis.BEGIN], self._vertices[:, thesis.LENGTH]
        place = np.arange(length.sum()) + np.repeat(begin - (np.cumsum(length) - length), length)
        slots: Longs = self._queries[place].astype(np.int64)
        return slots

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
