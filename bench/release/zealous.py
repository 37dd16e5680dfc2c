"""ZEALOUS at AOL's size next to hand-written SQL, and `partition` next to ZEALOUS (`proxid bench release`).

A synthetic log of 36 M rows is made in a scratch folder (0.6 GB, deleted afterwards). Each measurement runs in a
process of its own, so that its peak memory is its own; measurements take turns, and a ratio is the median of the ratios
within a turn. The baseline bounds each user and groups, in SQL, without noise; a second one is a plain
`count(distinct user)`. ZEALOUS is measured whole: digest, ledger (with `--dataset`), counting, noise, writing.

Options: rows, users, rounds, threads; spark=yes adds the same on a local Spark, with the counts compared.
"""

import multiprocessing
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench import Figure
from proxid.errors import OutputError

AOL_ROWS: Final = 36_389_567
AOL_USERS: Final = 657_426
M, EPSILON, DELTA = 5, 1.0, 1e-6
NEEDED_GB: Final = 8
_LIMITS: Final = "SET memory_limit = '4GB'; SET preserve_insertion_order = false"

BOUNDED_SQL: Final = """
    SELECT query, count(*) AS n FROM (
        SELECT query, row_number() OVER (PARTITION BY "user" ORDER BY first, query) AS place FROM (
            SELECT "user", query, min("time") AS first FROM '{log}' GROUP BY "user", query))
    WHERE place <= {m} GROUP BY query"""
DISTINCT_SQL: Final = """SELECT query, count(DISTINCT "user") AS n FROM '{log}' GROUP BY query"""

SYNTHETIC_SQL: Final = """
    COPY (
        WITH drawn AS (
            SELECT i, hash(i) / 18446744073709551616.0 AS a, hash(i + 3000000021) / 18446744073709551616.0 AS b,
                   hash(i + 77777777777) / 18446744073709551616.0 AS c,
                   hash(i + 99999999999) / 18446744073709551616.0 AS d
            FROM range({rows}) r(i)),
        placed AS (SELECT *, cast({users} * pow(a, 2.2) AS BIGINT) AS person FROM drawn)
        SELECT 'user' || person AS "user",
               CASE WHEN d < 0.35 THEN 'personal query ' || i
                    WHEN d < 0.55 THEN 'again ' || person || ' ' || cast(20 * b * b AS INT)
                    ELSE 'shared query ' || cast(exp(b * ln(3000000)) AS BIGINT) END AS query,
               make_timestamp(1141171200000000 + cast(c * 7948800 AS BIGINT) * 1000000) AS "time",
               CASE WHEN c < 0.5 THEN cast(1 + 10 * b AS INT) END AS rank,
               CASE WHEN c < 0.5 THEN 'http://www.site' || cast(exp(b * ln(300000)) AS BIGINT) || '.com' END AS url
        FROM placed) TO '{log}' (FORMAT parquet, COMPRESSION zstd)"""
"""AOL's shape: skewed activity; a third of the rows asked once, a fifth repeats of the same person, the rest Zipf."""

Measured = dict[str, Any]


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """The figures. Raises OutputError when the disk has too little room for the log."""
    rows, users = int(options.get("rows", AOL_ROWS)), int(options.get("users", AOL_USERS))
    rounds, threads = int(options.get("rounds", 3)), int(options.get("threads", 2))
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as name:
        folder = Path(name)
        if shutil.disk_usage(folder).free < NEEDED_GB * 1e9:
            raise OutputError(f"the benchmark needs {NEEDED_GB} GB of free disk in the temporary folder")
        log = folder / "log.parquet"
        alone(make_log, log, rows, users)
        turns = [
            {
                "zealous": alone(measure_zealous, log, users, threads, "duckdb"),
                "bounded": alone(measure_sql, BOUNDED_SQL, log, threads),
                "distinct": alone(measure_sql, DISTINCT_SQL, log, threads),
            }
            for _ in range(rounds)
        ]
        figures = zealous_figures(turns, rows) | partition_figure(alone(compare_partition, log, users, threads))
        if options.get("spark") == "yes":
            figures |= spark_figures(log, users, threads, rows)
    return figures


def zealous_figures(turns: list[dict[str, Measured]], rows: int) -> dict[str, Figure]:
    """Ratios within turns, rows a second, peak memory."""

    def ratio(baseline: str) -> float:
        return float(median(turn[baseline]["seconds"] / turn["zealous"]["seconds"] for turn in turns))

    seconds = {name: median(turn[name]["seconds"] for turn in turns) for name in turns[0]}
    peak = max(turn["zealous"]["peak_gb"] for turn in turns)
    bounded = f"SQL bounding users, no noise: {rows / seconds['bounded']:,.0f} rows/s"
    distinct = f"SQL count(distinct user): {rows / seconds['distinct']:,.0f} rows/s"
    sql_peak = f"the same SQL: {max(turn['bounded']['peak_gb'] for turn in turns):.2f} GB"
    return {
        "zealous_ratio_to_bounded_groupby": Figure(value=ratio("bounded"), unit="ratio", baseline=bounded, reach=0.8),
        "zealous_ratio_to_count_distinct": Figure(value=ratio("distinct"), unit="ratio", baseline=distinct),
        "zealous_rows_per_s": Figure(value=rows / seconds["zealous"], unit="rows/s", baseline=bounded),
        "zealous_peak_gb": Figure(value=peak, unit="GB", baseline=sql_peak, reach=6.0),
    }


def partition_figure(found: Measured) -> dict[str, Figure]:
    """Distinct queries of `partition` over those of the better ZEALOUS analysis."""
    said = f"ZEALOUS, {found['analysis']}: {found['zealous']} queries; partition: {found['partition']}; m {M}, "
    said += f"epsilon {EPSILON}, delta {DELTA}, approximate, replacing a user"
    value = found["partition"] / max(1, found["zealous"])
    return {"partition_ratio_to_zealous": Figure(value=value, unit="ratio", baseline=said, reach=1.5)}


def spark_figures(log: Path, users: int, threads: int, rows: int) -> dict[str, Figure]:
    """The same ZEALOUS on a local Spark, and whether its counts equal DuckDB's (1: yes)."""
    spark = alone(measure_zealous, log, users, threads, "spark")
    counts = [alone(bounded_counts_digest, log, threads, engine) for engine in ("duckdb", "spark")]
    same = float(counts[0]["digest"] == counts[1]["digest"])
    return {
        "zealous_spark_rows_per_s": Figure(value=rows / spark["seconds"], unit="rows/s"),
        "zealous_spark_equal_counts": Figure(value=same, unit="1 = equal", baseline="DuckDB", reach=1.0),
    }


def alone(work: Callable[..., Measured], *args: object) -> Measured:
    """Run a function in a fresh process; its result and, as `peak_gb`, the peak memory of that process."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(sender, work, args))
    process.start()
    sender.close()
    try:
        found: Measured = receiver.recv()
    except EOFError:
        raise OutputError("a measurement ended without a result") from None
    finally:
        process.join()
    return found


def _report(sender: Any, work: Callable[..., Measured], args: tuple[object, ...]) -> None:
    found = work(*args)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    sender.send(found | {"peak_gb": peak})


def make_log(log: Path, rows: int, users: int) -> Measured:
    """Write the synthetic log."""
    import duckdb

    with duckdb.connect() as database:
        database.execute(_LIMITS)
        database.execute(SYNTHETIC_SQL.format(log=log, rows=rows, users=users))
    return {}


def measure_sql(sql: str, log: Path, threads: int) -> Measured:
    """Seconds for a query whose rows are counted where they are made."""
    import duckdb

    start = time.perf_counter()
    with duckdb.connect() as database:
        database.execute(f"SET threads = {threads}; SET temp_directory = '{log.parent}/spill'; {_LIMITS}")
        database.sql(sql.format(log=log, m=M)).aggregate("count(*), sum(n)").fetchall()
    return {"seconds": time.perf_counter() - start}


def measure_zealous(log: Path, users: int, threads: int, engine: str) -> Measured:
    """Seconds for a whole release by ZEALOUS, and what it published."""
    from proxid.lab.release.registry import Job, load_method

    method = load_method("zealous")
    ledger = log.with_name(f"ledger-{time.time_ns()}.json")  # a new one each time: nothing is refused
    given = {"m": M, "epsilon": EPSILON, "delta": DELTA, "users": users, "threads": threads, "engine": engine}
    job = Job(log, log.with_name("released.tsv"), method.checked(given | {"ledger": str(ledger), "dataset": "bench"}))
    start = time.perf_counter()
    outcome = method.run(job)
    return {"seconds": time.perf_counter() - start, "published": outcome.records_out}


def compare_partition(log: Path, users: int, threads: int) -> Measured:
    """Distinct queries published by both analyses of ZEALOUS and by partition, from one bounded histogram."""
    import numpy as np

    from proxid.lab.release.noise import OpenDpNoise
    from proxid.lab.release.partition.mechanism import select
    from proxid.lab.release.partition.plan import partition_plan
    from proxid.lab.release.zealous.mechanism import sanitise
    from proxid.lab.release.zealous.plan import ANALYSES, zealous_plan

    counts = _bounded_counts(log, threads, "duckdb").column("count").to_numpy().astype(np.int64)
    plans = {name: zealous_plan(name, M, EPSILON, DELTA, users) for name in ANALYSES}
    published = {name: len(sanitise(counts, plan, OpenDpNoise()).index) for name, plan in plans.items()}
    better = max(published, key=lambda name: published[name])
    more = len(select(counts, partition_plan(M, EPSILON, DELTA), OpenDpNoise()).index)
    return {"analysis": better, "zealous": published[better], "partition": more}


def bounded_counts_digest(log: Path, threads: int, engine: str) -> Measured:
    """A digest of all bounded counts, whatever order the engine has them in."""
    import hashlib

    table = _bounded_counts(log, threads, engine).sort_by("query")
    digest = hashlib.sha256()
    for batch in table.to_batches(1 << 16):
        digest.update("\n".join(f"{q}\t{n}" for q, n in zip(*(c.to_pylist() for c in batch), strict=True)).encode())
        digest.update(b"\n")
    return {"digest": digest.hexdigest()}


def _bounded_counts(log: Path, threads: int, engine: str) -> Any:
    from proxid.lab.release.engines import open_engine
    from proxid.lab.release.engines.base import EngineSettings
    from proxid.lab.release.items import bounded_histogram
    from proxid.lab.release.source import open_source

    with open_engine(engine, EngineSettings(threads)) as chosen, open_source(log, chosen) as source:
        return chosen.fetch(bounded_histogram(source.log, "queries", M)).select(["query", "count"])
