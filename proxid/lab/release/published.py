"""Files of published items and counts: `count` and the item's columns, as TSV, JSONL or Parquet by the file's name.

Rows are sorted by what is published (count, then item), so that their order tells nothing about the log. Counts are
rounded to whole numbers, which is processing after the noise. A sequence is a list (JSONL, Parquet) or the further
cells of its row (TSV).
"""

import gzip
import io
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from proxid.errors import MALFORMED, InputError
from proxid.jsontext import load_json
from proxid.lab.logs.whole import whole_file
from proxid.loglines.layout import layout_of
from proxid.regular import regular_bytes

Item = tuple[str, ...]
SEQUENCE: Final = "sequence"
_BREAKS: Final = str.maketrans("\t\r\n", "   ")


@dataclass(frozen=True, slots=True)
class Published:
    """Published items with their counts: the columns that name an item, items, one count each."""

    columns: tuple[str, ...]
    items: list[Item]
    counts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.items)

    def as_dict(self) -> dict[Item, int]:
        """Count by item."""
        return dict(zip(self.items, self.counts.tolist(), strict=True))


def published(keys: pa.Table, counts: npt.NDArray[np.float64]) -> Published:
    """Items from an engine's key columns and noisy counts, in the order of publication."""
    names = tuple(keys.column_names)
    columns = [keys.column(name).to_pylist() for name in names]
    items = [tuple(cell) for cell in columns[0]] if names == (SEQUENCE,) else list(zip(*columns, strict=True))
    whole = np.rint(counts).astype(np.int64)
    order = sorted(range(len(items)), key=lambda at: (-whole[at], items[at]))
    return Published(names, [items[at] for at in order], whole[order])


def write_published(path: Path, release: Published) -> None:
    """Write the file whole or not at all. Raises InputError for an unknown ending, OutputError."""
    layout = layout_of(path)
    if layout.format == "parquet":
        data = _parquet(release)
    else:
        text = "".join(_tsv(release) if layout.format == "tsv" else _jsonl(release))
        data = gzip.compress(text.encode(), mtime=0) if layout.compressed else text.encode()
    with whole_file(path) as file:
        file.write(data)


def read_published(path: Path) -> Published:
    """What `write_published` wrote. Raises InputError."""
    layout = layout_of(path)
    try:
        if layout.format == "parquet":
            return _from_rows(pq.read_table(path).to_pylist())
        data = regular_bytes(path)
        text = (gzip.decompress(data) if layout.compressed else data).decode()
        return _from_tsv(text) if layout.format == "tsv" else _from_rows([load_json(x) for x in text.splitlines()])
    except (OSError, EOFError, zlib.error, pa.ArrowException, *MALFORMED):
        raise InputError(f"{path.name}: the file is no release of items and counts") from None


def _tsv(release: Published) -> list[str]:
    rows = [[str(n), *item] for n, item in zip(release.counts.tolist(), release.items, strict=True)]
    lines = [["count", *release.columns], *rows]
    return ["\t".join(cell.translate(_BREAKS) for cell in line) + "\n" for line in lines]


def _row(columns: tuple[str, ...], item: Item, count: int) -> dict[str, Any]:
    if columns == (SEQUENCE,):
        return {"count": count, SEQUENCE: list(item)}
    return {"count": count, **dict(zip(columns, item, strict=True))}


def _jsonl(release: Published) -> list[str]:
    rows = zip(release.items, release.counts.tolist(), strict=True)
    return [json.dumps(_row(release.columns, item, n), ensure_ascii=False) + "\n" for item, n in rows]


def _parquet(release: Published) -> bytes:
    text = pa.list_(pa.string()) if release.columns == (SEQUENCE,) else pa.string()
    cells = [list(release.items)] if release.columns == (SEQUENCE,) else list(zip(*release.items, strict=True))
    columns = [pa.array(c, text) for c in cells] or [pa.array([], text) for _ in release.columns]
    table = pa.table([pa.array(release.counts), *columns], names=["count", *release.columns])
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _from_tsv(text: str) -> Published:
    lines = [line.split("\t") for line in text.split("\n") if line]
    columns = tuple(lines[0][1:])
    if lines[0][0] != "count" or not columns:
        raise ValueError
    rows = lines[1:]
    if columns != (SEQUENCE,) and any(len(row) != len(columns) + 1 for row in rows):
        raise ValueError
    return Published(columns, [tuple(row[1:]) for row in rows], np.array([int(row[0]) for row in rows], np.int64))


def _from_rows(rows: list[dict[str, Any]]) -> Published:
    columns = tuple(name for name in rows[0] if name != "count") if rows else ()
    items = [tuple(row[SEQUENCE]) if columns == (SEQUENCE,) else tuple(row[c] for c in columns) for row in rows]
    return Published(columns, items, np.array([row["count"] for row in rows], np.int64))
