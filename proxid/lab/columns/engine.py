"""What the columnar engines share: slots of waiting records, a supply of random words, counts (DESIGN 8, 13)."""

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from proxid.lab.columns.map import PairMap
from proxid.lab.columns.random import WordSource
from proxid.lab.columns.released import Released, make_released
from proxid.lab.logs.batch import NONE, Dictionaries, LogBatch
from proxid.lab.logs.jit import Codes, Columns, Longs
from proxid.lab.logs.strings import StringTable

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
        self._slots = grow_free(self._slots, wanted, self.next_column, self._scalars, self._free_scalar)


def grow_free(items: Codes, wanted: int, link: int, scalars: Longs, head: int) -> Codes:
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
