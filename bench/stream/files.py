"""Figures of `proxid release --method kbuffer` from file to file, each in a process of its own (so is its memory).

rows/s by CPU time on one core, TSV in and TSV out, categories in the file; the wall time stands beside. Memory: peak of
the process, bytes of the mechanism a waiting record, bytes of the ladder a distinct text.
"""

import json
import multiprocessing as mp
import resource
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench import Figure
from proxid.anonymise.mix.settings import Settings
from proxid.lab.columns.engines import mix_engine
from proxid.lab.logs import Dictionaries, create_log
from proxid.lab.logs.synth import Shape, synthesise
from proxid.lab.release.registry import Job, load_method
from proxid.loglines.layout import AOL_FIELDS, Layout

VARIANTS = {"": {"ladder": False}, "_ladder": {"ladder": True, "mask": False}, "_ladder_mask": {"ladder": True}}
"""What stands behind the name of a figure, and the options of the method."""
LONG = 10_000_000
"""Rows from which on the mask is left out unless `mask=yes`: it looks at each distinct shown text in plain Python."""


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """`file_rows_per_s` and `bytes_per_waiting_record`, with the ladder off, on, and on with its mask."""
    rows, users = int(options.get("rows", "4000000")), int(options.get("users", "0"))
    masked = options.get("mask", "no" if rows > LONG else "yes") == "yes"
    figures: dict[str, Figure] = {}
    with tempfile.TemporaryDirectory(prefix="proxid-bench-", dir=options.get("folder")) as folder:
        source = Path(folder) / "log.tsv"
        write_log(source, rows, users or max(1, rows // 56))
        for name, chosen in VARIANTS.items():
            if name.endswith("_mask") and not masked:
                continue
            found = in_own_process(source, {"k": int(options.get("k", "10")), **chosen})
            figures |= as_figures(name, rows, found)
    return figures | waiting_figures()


def write_log(path: Path, rows: int, users: int) -> None:
    """A synthetic log with categories; 56 records a user on average, as AOL's."""
    known = Dictionaries()
    with create_log(path, Layout("tsv", (*AOL_FIELDS, "category")), known) as out:
        for batch in synthesise(Shape(rows, users, 1), known, fresh_texts=True):
            out.write(batch)


def in_own_process(source: Path, options: dict[str, Any]) -> dict[str, float]:
    """Times, memory and counts of one release."""
    context = mp.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_measure, args=(theirs, source, options))
    child.start()
    theirs.close()
    try:
        found: dict[str, float] = json.loads(ours.recv_bytes())
    finally:
        child.join()
    return found


def _measure(pipe: Any, source: Path, options: dict[str, Any]) -> None:
    method = load_method("kbuffer")
    chosen = method.checked(options)
    warm = source.with_name("warm.tsv")
    with source.open("rb") as whole:
        warm.write_bytes(b"".join(line for line, _ in zip(whole, range(2000), strict=False)))
    method.run(Job(warm, source.with_name("warm.out.tsv"), chosen))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, wall = time.process_time(), time.perf_counter()
    outcome = method.run(Job(source, source.with_name("out.tsv"), chosen))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    source.with_name("out.tsv").unlink()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {"cpu": cpu, "wall": wall, "peak": peak * 1024, "before": before * 1024, "out": outcome.records_out}
    pipe.send_bytes(json.dumps(found | outcome.details).encode())


def as_figures(name: str, rows: int, found: dict[str, float]) -> dict[str, Figure]:
    """The figures of one release."""
    figures: dict[str, Figure] = {
        f"file_rows_per_s{name}": {
            "value": rows / found["cpu"],
            "unit": "rows/s, CPU time of one core",
            "baseline": f"{found['cpu']:.1f} s CPU, {found['wall']:.1f} s wall, {rows} rows",
            "reach": 500_000.0 if not name else None,
        },
        f"file_peak_bytes{name}": {
            "value": found["peak"],
            "unit": "bytes",
            "baseline": f"{found['before']:.0f} bytes before the log was opened",
            "reach": 4e9 if name == "_ladder" else None,
        },
        f"most_waiting{name}": {"value": found["most_waiting"], "unit": "records"},
    }
    if name == "_ladder":
        figures["bytes_per_distinct_text"] = {
            "value": found["ladder_bytes"] / max(1, found["ladder_texts"]),
            "unit": "bytes of the ladder a distinct text",
            "baseline": f"{found['ladder_texts']:.0f} texts, {found['ladder_known']:.0f} texts and units",
        }
    return figures


def waiting_figures(records: int = 400_000) -> dict[str, Figure]:
    """`bytes_per_waiting_record`: what one more waiting record costs, with its text, when nobody can be released."""
    known, chosen = Dictionaries(), Settings(k=60_000, level=2, max_delay_records=None, max_delay_s=None)
    engine = mix_engine(known, chosen, ladder=False)
    sizes = {}
    for batch in synthesise(Shape(records, 50_000, 1), known):
        engine.feed(batch)
        engine.forget_texts()
        sizes[engine.waiting] = engine.nbytes_waiting + known.query.nbytes + known.url.nbytes
    counts, held = np.array(list(sizes)), np.array(list(sizes.values()))
    slope = float(np.polyfit(counts, held, 1)[0])
    return {"bytes_per_waiting_record": {"value": slope, "unit": "bytes, text and URL included"}}
