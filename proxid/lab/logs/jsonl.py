"""A log as JSON lines: user, query, time (ISO 8601), rank, url, category (path with `/`), group (DESIGN 15).

user and query are required (the query may be null), the rest may be absent or null; keys that a log does not have are
left out.
"""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from proxid.lab.logs.base import Classifier, LogWriter
from proxid.lab.logs.batch import Dictionaries, LogBatch
from proxid.lab.logs.categorise import Categoriser
from proxid.lab.logs.jit import Bytes, Longs
from proxid.lab.logs.lines import Block, LineReader
from proxid.lab.logs.strings import joined
from proxid.lab.logs.whole import WholeFile
from proxid.loglines.head import jsonl_layout
from proxid.loglines.layout import Layout
from proxid.loglines.rows import TOO_LONG, in_order, read_object
from proxid.loglines.times import format_time


class RowEncoder:
    """Turns rows of Python values, as `checked_cells` gives them, into batches."""

    def __init__(self, dictionaries: Dictionaries, classifier: Classifier | None) -> None:
        self._dictionaries = dictionaries
        self._categoriser = Categoriser(dictionaries, classifier)

    def batch(self, rows: list[tuple[Any, ...]], first: int) -> LogBatch:
        """One batch; `first` is the number of its first record."""
        user, query, time, rank, url, path, group = zip(*rows, strict=True)
        texts = [joined(column) for column in (user, query, url, path)]
        numbers = np.array(time, np.float64), np.array(rank, np.int32), np.array(group, np.int32)
        return self.columns(texts, numbers, first)

    def columns(self, texts: Sequence[tuple[Bytes, Longs]], numbers: Sequence[Any], first: int) -> LogBatch:
        """One batch of columns: user, query, URL, category as bytes and bounds; time, rank, group as in a LogBatch."""
        tables = self._dictionaries
        user, query, url, path = texts
        users, queries = tables.user.encode_bytes(*user), tables.query.encode_bytes(*query)
        urls, paths = tables.url.encode_present(*url), self._categoriser.paths.encode_present(*path)
        row = np.arange(first, first + len(users), dtype=np.int64)
        time, rank, group = numbers
        return LogBatch(users, queries, self._categoriser.nodes(paths, queries), time, rank, urls, row, group)


class JsonlReader(LineReader):
    """Reads JSON lines into batches."""

    def __init__(
        self,
        path: Path,
        layout: Layout | None,
        compressed: bool,
        dictionaries: Dictionaries,
        classifier: Classifier | None,
        chunk: int,
    ) -> None:
        super().__init__(path, layout, compressed, dictionaries, chunk)
        self._encoder = RowEncoder(dictionaries, classifier)

    def _layout(self, head: bytes, compressed: bool) -> Layout:
        return jsonl_layout(head, compressed)

    def _read(self, block: Block) -> LogBatch | None:
        rows, overlong = [], block.overlong
        for line in block.text().split(b"\n")[:-1]:
            self._line += 1
            row = TOO_LONG if overlong else read_object(line)
            overlong = False
            if isinstance(row, str):
                self.bad.add(self._line, row)
            else:
                rows.append(in_order(row))
        self.rows += len(rows)
        return self._encoder.batch(rows, self.rows - len(rows)) if rows else None


def named_columns(batch: LogBatch, dictionaries: Dictionaries, names: tuple[str, ...]) -> dict[str, list[Any]]:
    """The columns of a batch as lists of Python values; None for what is missing."""
    readers: dict[str, Callable[[], list[Any]]] = {
        "user": lambda: dictionaries.user.decode(batch.user),
        "query": lambda: dictionaries.query.decode(batch.query),
        "time": lambda: [None if math.isnan(time) else time for time in batch.time.tolist()],
        "rank": lambda: [None if rank < 0 else rank for rank in batch.rank.tolist()],
        "url": lambda: [text or None for text in dictionaries.url.decode(batch.url)],
        "category": lambda: [text or None for text in dictionaries.category.decode(batch.category)],
        "group": lambda: [None if group < 0 else group for group in batch.group.tolist()],
    }
    return {name: readers[name]() for name in names}


class JsonlWriter(LogWriter):
    """Writes batches as JSON lines; a missing value is left out."""

    def __init__(self, path: Path, layout: Layout, dictionaries: Dictionaries) -> None:
        super().__init__(dictionaries, layout)
        self._whole = WholeFile(path, compressed=layout.compressed)

    def write(self, batch: LogBatch) -> None:
        """Append the records of a batch."""
        columns = named_columns(batch, self.dictionaries, self.layout.fields)
        if "time" in columns:
            columns["time"] = [None if time is None else format_time(time) for time in columns["time"]]
        lines = []
        for values in zip(*columns.values(), strict=True):
            cells = {name: value for name, value in zip(columns, values, strict=True) if value is not None}
            lines.append(json.dumps(cells, ensure_ascii=False))
        if lines:
            self._whole.write(("\n".join(lines) + "\n").encode())
        self.rows += len(batch)

    def close(self) -> None:
        """Finish the file and give it its name."""
        with self._whole.kept():
            self._whole.commit()

    def abandon(self) -> None:
        """Remove what was written."""
        self._whole.abandon()
