"""Histograms of a log for the studies of 003 and 004: counted once on an engine, kept, released again and again."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import ibis
import numpy as np
import pyarrow as pa

from proxid.lab.release.engines import Engine, open_engine
from proxid.lab.release.items import bounded_histogram, full_histogram, item_columns, items
from proxid.lab.release.noise import OpenDpNoise, Steps, from_grid
from proxid.lab.release.source import open_source
from proxid.lab.release.thresholding import Kept
from proxid.lab.studies.session_log import SessionShape, write_session_log

Item = tuple[str, ...]
Counts = dict[Item, float]
NOISE = OpenDpNoise()


@dataclass(frozen=True)
class Histogram:
    """Items and the number of users of each."""

    items: list[Item]
    counts: Steps

    def as_dict(self) -> Counts:
        """Count by item."""
        return dict(zip(self.items, self.counts.astype(float).tolist(), strict=True))

    def kept(self, kept: Kept) -> Counts:
        """Published items with their noisy counts."""
        noisy = from_grid(kept.steps).tolist()
        return {self.items[at]: count for at, count in zip(kept.index.tolist(), noisy, strict=True)}


def histogram_of(table: pa.Table, columns: tuple[str, ...]) -> Histogram:
    """A histogram from an engine's rows; a sequence is one column of lists."""
    cells = [table.column(name).to_pylist() for name in columns]
    keys = [tuple(cell) for cell in cells[0]] if columns == ("sequence",) else list(zip(*cells, strict=True))
    return Histogram(keys, table.column("count").to_numpy().astype(np.int64))


@dataclass
class CountedLog:
    """A log on an engine, with the histograms asked for so far."""

    engine: Engine
    log: ibis.Table
    users: int
    _cache: dict[tuple[str, str, int], Histogram] = field(default_factory=dict)

    def full(self, kind: str) -> Histogram:
        """Users of each item, nobody bounded: the original histogram (003 §2.1)."""
        return self._get("full", kind, 0, full_histogram(self.log, kind))

    def bounded(self, kind: str, m: int) -> Histogram:
        """003 steps 1 and 2."""
        return self._get("bounded", kind, m, bounded_histogram(self.log, kind, m))

    def k_query(self, kind: str, k: int) -> Histogram:
        """The histogram of the k-query anonymous log (003 §8): rows whose query has k distinct users or more."""
        asked = full_histogram(self.log, "queries")
        common = asked.filter(asked["count"] >= k).select("query")
        return self._get("k-query", kind, k, full_histogram(self.log.semi_join(common, "query"), kind))

    def items_by_user(self, kind: str) -> float:
        """Distinct items of a user on average (003 table 4)."""
        pairs = items(self.log, kind).select("user", *item_columns(kind)).distinct()
        return float(pairs.count().execute()) / max(1, self.users)

    def _get(self, way: str, kind: str, number: int, table: ibis.Table) -> Histogram:
        key = (way, kind, number)
        if key not in self._cache:
            self._cache[key] = histogram_of(self.engine.fetch(table), item_columns(kind))
        return self._cache[key]


@contextmanager
def counted_log(path: Path) -> Iterator[CountedLog]:
    """A log file on DuckDB."""
    with open_engine("duckdb") as engine, open_source(path, engine) as source:
        yield CountedLog(engine, source.log, int(source.log.user.nunique().execute()))


@contextmanager
def synthetic_or(path: Path | None, rows: int, users: int, seed: int) -> Iterator[Path]:
    """The log given, or a synthetic one that lives as long as the study."""
    if path is not None:
        yield path
        return
    with TemporaryDirectory(prefix="proxid-study-") as folder:
        yield write_session_log(Path(folder) / "log.parquet", SessionShape(rows, users, seed))
