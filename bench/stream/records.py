"""Figures of `proxid bench stream`, one record at a time: the pool of mode mix, as services and auditor run it."""

import time
import tracemalloc
from collections.abc import Iterable, Mapping
from hashlib import sha256

from bench import Figure
from bench.yardsticks import load_baseline
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Record

LEVEL = 1

Row = tuple[str, str, str]


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure; options: `records` (300000), `users` (5000)."""
    records, users = int(options.get("records", 300_000)), int(options.get("users", 5_000))
    rows = load_baseline("synthetic_stream").make(records, users, 1).strings()
    return waiting_figures(rows) | pool_figures(rows)


def waiting_figures(rows: list[Row]) -> dict[str, Figure]:
    """Bytes that the pool holds for each waiting record, the record included; its own strings are not counted."""
    settings = Settings(k=190, level=LEVEL, max_delay_records=None, max_delay_s=None, person_cap=None)
    tracemalloc.start()
    pool = Pool(settings)
    before = tracemalloc.get_traced_memory()[0]
    _feed(pool, (_record(i, row, ladder=False) for i, row in enumerate(rows)))
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    waiting = sum(1 for _ in pool.waiting())
    what = f"{waiting} of {len(rows)} records waiting at k=190, level {LEVEL}, and every record's id"
    return {"bytes_per_waiting_record": {"value": held / waiting, "unit": "bytes", "baseline": what}}


def pool_figures(rows: list[Row]) -> dict[str, Figure]:
    """Records a second through the whole pool (ids, repeats, cap, moving up), with the ladder off and on."""
    figures: dict[str, Figure] = {}
    for name, ladder in (("off", False), ("on", True)):
        records = [_record(i, row, ladder) for i, row in enumerate(rows)]
        begin = time.process_time()
        _feed(Pool(Settings(level=LEVEL)), records)
        figures[f"pool_per_s_ladder_{name}"] = {
            "value": len(rows) / (time.process_time() - begin),
            "unit": "records/s",
            "baseline": f"defaults, k=10, level {LEVEL}, one core; digests made beforehand",
        }
    return figures


def _record(i: int, row: Row, ladder: bool) -> Record:
    user, query, category = row
    units = (sha256(query.encode()).digest()[:16],) if ladder else ()
    return Record(i.to_bytes(8, "big"), user, True, "all", tuple(category.split("/")), units, 0.0)


def _feed(pool: Pool, records: Iterable[Record]) -> None:
    for record in records:
        pool.submit(record)
        pool.tick(record.time)
