"""Figures of the columnar engine: `mix` against Algorithm 4 written plainly, both by CPU time on one core."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bench import Figure
from bench.yardsticks import load_baseline
from proxid.anonymise.mix.settings import Settings
from proxid.lab.columns.engines import mix_engine
from proxid.lab.logs import Dictionaries, LogBatch

Records = list[tuple[str, str, str]]


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """`column_ratio_k3`, with the ladder as well, and the speeds behind them."""
    records = make_records(int(options.get("records", "1000000")))
    batch, known = encode(records)
    plain = len(records) / plain_seconds(records, k=3)
    figures: dict[str, Figure] = {}
    for name, ladder in (("column_ratio_k3", False), ("column_ratio_k3_ladder", True)):
        speed = len(records) / column_seconds(batch, known, k=3, ladder=ladder)
        figures[name] = {
            "value": speed / plain,
            "unit": "times Algorithm 4 written plainly, CPU time",
            "baseline": plain,
            "reach": 8.0 if name == "column_ratio_k3" else None,
        }
        figures[name.replace("ratio", "records_per_s")] = {"value": speed, "unit": "records/s", "baseline": plain}
    return figures


def make_records(count: int) -> Records:
    """The baseline's own stream: 5,000 users, (user, text, category path)."""
    records: Records = load_baseline("synthetic_stream").make(count, 5_000, 1).strings()
    return records


def encode(records: Records) -> tuple[LogBatch, Dictionaries]:
    """The records as columns; coding them belongs to reading a file and is not timed here."""
    known, none = Dictionaries(), np.full(len(records), -1, np.int32)
    user, query, path = zip(*records, strict=True)
    nodes = np.array([known.tree.add(one) for one in path], np.int32)
    time_of = np.arange(len(records)) / 4.58
    row = np.arange(len(records), dtype=np.int64)
    users, queries = known.user.encode(user), known.query.encode(query)
    return LogBatch(users, queries, nodes, time_of, none, none, row, none), known


def plain_seconds(records: Records, k: int) -> float:
    """CPU time of the plain algorithm; level 1, strings in and out."""
    plain = load_baseline("plain_anonymiser").Plain(k, 1)

    def feed() -> None:
        for record in records:
            plain.feed(*record)

    return cpu_seconds(feed)


def column_seconds(batch: LogBatch, known: Dictionaries, k: int, *, ladder: bool) -> float:
    """CPU time of mode mix on columns, the best of three: other programs share the caches."""
    settings = Settings(k=k, level=1)
    mix_engine(known, settings, ladder=ladder).feed(batch.take(slice(0, 1000)))  # compiles
    return min(cpu_seconds(lambda: mix_engine(known, settings, ladder=ladder).feed(batch)) for _ in range(3))


def cpu_seconds(work: Callable[[], Any]) -> float:
    """CPU time of a piece of work."""
    start = time.process_time()
    work()
    return time.process_time() - start
