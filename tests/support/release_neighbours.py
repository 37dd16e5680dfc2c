"""Worst-case neighbouring logs for the release mechanisms, and mechanisms run many times at once on their counts."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import ibis
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from proxid.lab.attacks.epsilon_audit import Direction, audited_epsilon
from proxid.lab.release.engines import open_engine
from proxid.lab.release.noise import STEPS, Noise, OpenDpNoise, Steps
from proxid.lab.release.source import open_source
from proxid.lab.release.thresholding import Kept

Row = tuple[str, str]  # user, query; the time is the row's number
Sanitise = Callable[[Steps, Noise], Kept]
Histogram = Callable[[ibis.Table], ibis.Table]
TEXTS = [(name, pa.string()) for name in ("user", "query", "url")]
SCHEMA = pa.schema([*TEXTS, ("time", pa.timestamp("us")), ("rank", pa.int32())])


class HalvedNoise:
    """A broken sampler: half the scale that was asked for."""

    def laplace(self, size: int, scale: float) -> Steps:
        return OpenDpNoise().laplace(size, scale / 2)

    def gaussian(self, size: int, scale: float) -> Steps:
        return OpenDpNoise().gaussian(size, scale / 2)


def write_rows(path: Path, rows: list[Row]) -> Path:
    """A log in Parquet; every query has a click on its own URL."""
    start = dt.datetime(2006, 3, 1, tzinfo=dt.UTC)
    pq.write_table(
        pa.table(
            {
                "user": [user for user, _ in rows],
                "query": [query for _, query in rows],
                "time": [start + dt.timedelta(seconds=i) for i in range(len(rows))],
                "rank": [1] * len(rows),
                "url": [f"{query}.example" for _, query in rows],
            },
            schema=SCHEMA,
        ),
        path,
    )
    return path


def counts_of(path: Path, histogram: Histogram) -> dict[str, int]:
    """The histogram of a log by its first key column, on DuckDB."""
    with open_engine("duckdb") as engine, open_source(path, engine) as source:
        table = engine.fetch(histogram(source.log))
    keys = [name for name in table.column_names if name != "count"]
    return dict(zip(table.column(keys[0]).to_pylist(), table.column("count").to_pylist(), strict=True))


@dataclass(frozen=True)
class Neighbours:
    """Counts of S and S' over the union of their items."""

    counts: dict[str, int]
    counts_prime: dict[str, int]

    def keys(self) -> list[str]:
        return sorted(set(self.counts) | set(self.counts_prime))

    def direction(self) -> Direction:
        keys = self.keys()
        here = np.array([self.counts.get(key, 0) for key in keys], float)
        there = np.array([self.counts_prime.get(key, 0) for key in keys], float)
        return Direction(np.flatnonzero(here > there), np.flatnonzero(here < there), here)

    def audit(self, sanitise: Sanitise, noise: Noise, delta: float, runs: int, *, swapped: bool = False) -> float:
        """The audited lower bound on epsilon of S against S' (or of S' against S)."""
        here, there = (self.counts_prime, self.counts) if swapped else (self.counts, self.counts_prime)
        difference = Neighbours(here, there).direction()

        def runner(counts: dict[str, int]) -> Callable[[int], npt.NDArray[np.float64]]:
            return lambda n: run_many(counts, self.keys(), sanitise, noise, n)

        return audited_epsilon(runner(here), runner(there), difference, delta, runs, floor=0.0)


def run_many(
    counts: dict[str, int], keys: list[str], sanitise: Sanitise, noise: Noise, runs: int
) -> npt.NDArray[np.float64]:
    """Independent runs of a mechanism on one histogram, as one long histogram; items absent from it cannot appear."""
    present = [i for i, key in enumerate(keys) if key in counts]
    values = np.full((runs, len(keys)), np.nan)
    if present:
        one = np.array([counts[keys[i]] for i in present], np.int64)
        kept = sanitise(np.tile(one, runs), noise)
        run, at = np.divmod(kept.index, len(present))
        values[run, np.array(present)[at]] = kept.steps / STEPS
    return values


def replaced_user_logs(folder: Path, m: int, others: int) -> tuple[Path, Path]:
    """S and S': one user's m items are replaced by m others; `others` further users hold each of the 2m items."""
    rows = [(f"other{i}-{q}", q) for q in [*items("a", m), *items("b", m)] for i in range(others)]
    here = write_rows(folder / "s.parquet", [*rows, *(("victim", q) for q in items("a", m))])
    there = write_rows(folder / "s_prime.parquet", [*rows, *(("victim", q) for q in items("b", m))])
    return here, there


def lone_item_logs(folder: Path, m: int, holders: int) -> tuple[Path, Path]:
    """S: all `holders` users have the same m items. S': one of them has m items of the own instead."""
    rows = [(f"u{i}", q) for i in range(holders - 1) for q in items("a", m)]
    here = write_rows(folder / "s.parquet", [*rows, *(("victim", q) for q in items("a", m))])
    there = write_rows(folder / "s_prime.parquet", [*rows, *(("victim", q) for q in items("z", m))])
    return here, there


def repeating_user_logs(folder: Path, others: int, repeats: int) -> tuple[Path, Path]:
    """S and S' differ in one user who repeats one query: a bound by row, not by user, lets the count grow with it."""
    rows = [(f"other{i}-{q}", q) for q in ("a0", "b0") for i in range(others)]
    here = write_rows(folder / "s.parquet", [*rows, *[("victim", "a0")] * repeats])
    there = write_rows(folder / "s_prime.parquet", [*rows, *[("victim", "b0")] * repeats])
    return here, there


def items(name: str, m: int) -> list[str]:
    return [f"{name}{i}" for i in range(m)]


def counted_by_row(log: ibis.Table) -> ibis.Table:
    """A broken histogram: every row counts, whoever it is from."""
    return log.group_by("query").agg(count=log.count())
