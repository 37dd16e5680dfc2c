"""Tables 3.2 and 3.3 of 002: time a record and memory of each process of chapter 3, each in a process of its own.

The thesis timed Python 2.7 with databases on disk on a notebook; here a record at a time in Python for classifier,
anonymiser and profiler, compiled loops for the de-anonymisers, everything in memory. Memory is what a process has grown
by, without interpreter and log.
"""

import multiprocessing
import random
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

from proxid.lab.attacks.base import Observed
from proxid.lab.attacks.buffered import BufferedAttacker
from proxid.lab.profiles import Profiler
from proxid.lab.studies.thesis.plan import Source
from proxid.lab.studies.thesis.source import load_source
from proxid.lab.thesis.algorithm2 import Thesis3

PUBLISHED: Final[dict[str, tuple[float | None, int]]] = {
    "classifier": (1503.0, 111_581), "anonymiser": (22.0, 10_347), "profiler": (267.0, 12_120),
    "deanon1": (None, 9_316), "deanon2": (None, 9_375), "deanon3": (None, 312_273), "deanon4": (None, 311_782),
}  # fmt: skip
"""Microseconds a record (Table 3.2) and KiB (Table 3.3) as the thesis prints them."""
RECORDS, TEXTS = 20_000, 500
K, LEVEL, DELTA = 3, 1, 1.2


def measured(seed: int) -> list[dict[str, Any]]:
    """A row a process, beside the thesis's numbers."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])  # what all import is read once
    rows = []
    for name, (time_us, memory) in PUBLISHED.items():
        with ProcessPoolExecutor(1, context) as pool:
            us, grown = pool.submit(_measure, name, seed).result()
        rows.append({"process": name, "us": us, "thesis_us": time_us, "kib": grown, "thesis_kib": memory})
    return rows


def _measure(name: str, seed: int) -> tuple[float, int]:
    """Microseconds a record and KiB grown, of the whole run with what it loads."""
    batch, known = load_source(Source(rows=RECORDS, users=RECORDS // 15, seed=seed))
    columns = zip((known.user, known.query, known.category), (batch.user, batch.query, batch.category), strict=True)
    users, queries, categories = (table.decode(codes) for table, codes in columns)
    before = _resident()
    if name.startswith("deanon"):
        seen = Observed.of(batch, known.tree.ancestors(LEVEL)[batch.category])
        BufferedAttacker(name, k=K, seed=seed, delta=DELTA).feed(seen.slice(0, 100))  # compiles
        attacker = BufferedAttacker(name, k=K, seed=seed, delta=DELTA)
        before, started = _resident(), time.process_time()
        attacker.feed(seen)
        return 1e6 * (time.process_time() - started) / len(batch), _resident() - before
    step, count = _step(name, seed), TEXTS if name == "classifier" else len(batch)
    started = time.process_time()
    for user, query, category in zip(users[:count], queries[:count], categories[:count], strict=True):
        step(user, query, category)
    return 1e6 * (time.process_time() - started) / count, _resident() - before


def _step(name: str, seed: int) -> Callable[[str, str, str], Any]:
    if name == "anonymiser":
        return Thesis3(K, LEVEL, random.Random(seed), delta=DELTA).feed  # noqa: S311 (an experiment)
    if name == "profiler":
        profiler = Profiler()
        return lambda user, query, category: profiler.add(user, category)
    from proxid.classify.ontology import Ontology
    from proxid.classify.thesis import ThesisCategories

    classifier = ThesisCategories(Ontology.iab())
    return lambda user, query, category: classifier.path(words := query.split(), words)


def _resident() -> int:
    """KiB of memory that the process holds."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0
