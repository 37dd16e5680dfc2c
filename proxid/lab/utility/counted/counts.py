"""`proxid evaluate` for releases of counted items: histograms against the original log's (003 §7, §8)."""

import gzip
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from proxid.errors import MALFORMED, InputError
from proxid.jsontext import load_json
from proxid.lab.load import manifest_of
from proxid.lab.release.engines import open_engine
from proxid.lab.release.items import KINDS, full_histogram
from proxid.lab.release.published import SEQUENCE, Published, read_published
from proxid.lab.release.source import open_source
from proxid.lab.utility.counted.accuracy import accuracy_of_zealous, wrong
from proxid.lab.utility.counted.caching import cached_keywords, documents_of, hit_probability
from proxid.lab.utility.counted.histogram import Histogram, Original, histogram_utility
from proxid.loglines.layout import Layout, layout_of
from proxid.regular import open_stream

MEMORY_SHARE = 0.05
"""Share of all posting lists that the cache of the index holds."""


def is_counted(path: Path) -> bool:
    """Whether a file is a release of items and counts, and not a log; its first line or its schema tells."""
    layout = layout_of(path, like=Layout())
    try:
        if layout.format == "parquet":
            with open_stream(path) as file:
                return "count" in pq.read_schema(file).names
        with open_stream(path) as file:
            line = (gzip.GzipFile(fileobj=file) if layout.compressed else file).readline(1 << 20)
        return line.startswith(b"count\t") if layout.format == "tsv" else "count" in load_json(line or b"{}")
    except (OSError, EOFError, zlib.error, pa.ArrowException, *MALFORMED):
        return False


def kind_of(release: Published) -> str:
    """The kind of items. Raises InputError for sequences, which the original has no histogram of."""
    if release.columns == (SEQUENCE,):
        raise InputError("sequences are evaluated by query suggestion: proxid study sessions")
    kinds = [kind for kind, columns in KINDS.items() if columns == release.columns]
    if not kinds:
        raise InputError("the release's columns are those of no items that are counted")
    return kinds[0]


def counted_utility(original: Path, released: Path) -> dict[str, Any]:
    """Counts against the original's: coverage, L1, KL, differences; for keywords the hit probability too."""
    release = read_published(released)
    kind = kind_of(release)
    noisy = {item: float(count) for item, count in release.as_dict().items()}
    with open_engine("duckdb") as engine, open_source(original, engine) as source:
        table = engine.fetch(full_histogram(source.log, kind))
        clicks = engine.fetch(full_histogram(source.log, "clicks")) if kind == "keywords" else None
    items = zip(*(table.column(name).to_pylist() for name in KINDS[kind]), strict=True)
    counts = dict(zip(items, map(float, table.column("count").to_pylist()), strict=True))
    found = {"items": kind, **histogram_utility(Original.of(counts), noisy), **_wrong(counts, noisy, released)}
    if clicks is not None:
        pairs = zip(clicks.column("query").to_pylist(), clicks.column("url").to_pylist(), strict=True)
        found["index_caching"] = _caching(counts, noisy, list(pairs))
    return found


def _wrong(counts: Histogram, noisy: Histogram, released: Path) -> dict[str, Any]:
    """003's inaccuracy of a release of ZEALOUS, with thresholds τ* − ξ and τ* + ξ as in Theorem 3; else nothing."""
    plan = manifest_of(released).get("details", {}).get("plan", {})
    if not {"tau", "tau_prime", "lambda"} <= plan.keys():
        return {}
    slack = (plan["tau_prime"] - plan["tau"]) / 2
    found = wrong(counts, noisy.keys(), plan["tau"] + slack, slack)
    said = {"tau_star": plan["tau"] + slack, "slack": slack, "accuracy": accuracy_of_zealous(slack, plan["lambda"])}
    return {"inaccuracy": {"value": found.inaccuracy, **asdict(found), **said}}


def _caching(
    counts: dict[tuple[str, ...], float], noisy: dict[tuple[str, ...], float], clicks: list[tuple[str, str]]
) -> dict[str, float]:
    words = {item[0]: count for item, count in counts.items()}
    documents = documents_of(clicks)
    memory = max(8, int(8 * MEMORY_SHARE * sum(max(1, documents[word]) for word in words)))
    best = hit_probability(words, cached_keywords(words, documents, memory))
    released = cached_keywords({item[0]: count for item, count in noisy.items()}, documents, memory)
    return {"hit_probability": hit_probability(words, released), "with_the_original_log": best, "memory_bytes": memory}
