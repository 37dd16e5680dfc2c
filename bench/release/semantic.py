"""Figures of `proxid bench release` for 000 and 001: microaggregation of 1,000 users, semantic queries a second."""

import importlib.util
import os
import random
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import numpy as np

from bench import Figure
from proxid.lab.logs.files import create_log, read_log
from proxid.lab.release.microaggregation.mechanism import Queries, make_clusters, microaggregate
from proxid.lab.release.microaggregation.method import columns
from proxid.lab.release.registry import Job, load_method
from proxid.lab.release.semantic.mechanism import SemanticMechanism, build_mechanism
from proxid.lab.release.semantic.quality import Criterion, quality_row, sensitivity
from proxid.lab.release.semantic.topics import SETTINGS
from proxid.lab.studies.topical_log import ALL_TOPICS, LogShape, make_topical_log
from proxid.loglines.layout import Layout
from proxid.ontology.wordnet import load

PLAIN = Path(__file__).parents[1] / "yardsticks" / "plain_microaggregation.py"
K, LEVELS = 3, 5
USERS, QUERIES = 1000, 55_666  # 001 §4


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure; options: `users` (1000)."""
    users = int(options.get("users", USERS))
    return {**_microaggregation(users), **_semantic(users)}


def paper_log(users: int) -> Queries:
    """A log of 001's size: for 1,000 users exactly 55,666 queries."""
    wanted = QUERIES * users // USERS
    shape = LogShape(users, 1.02 * wanted / users, spread=1.2, topics=ALL_TOPICS, unusual=0.15, vanity=0.01)
    batch, dictionaries = make_topical_log(load(), shape, 1)
    # Every user's first query and, of the others, the earliest.
    first = np.unique(batch.user, return_index=True)[1]
    others = np.setdiff1d(np.arange(len(batch)), first)[: wanted - len(first)]
    return columns(batch.take(np.sort(np.r_[first, others])), dictionaries)[0]


def _microaggregation(users: int) -> dict[str, Figure]:
    queries = paper_log(users)
    begin = time.process_time()
    rng = np.random.default_rng(1)
    clusters = make_clusters(queries, K, LEVELS, 1, rng)
    microaggregate(queries, clusters, rng)
    ours = time.process_time() - begin
    what = f"{queries.users} users, {len(queries.user)} queries, k={K}, {LEVELS} levels, one core"
    figures: dict[str, Figure] = {
        "microaggregation_1000_users_s": {"value": ours, "unit": "s CPU", "baseline": what, "reach": 60.0}
    }
    plain = _plain()
    if plain is not None:
        seconds, same = _plain_seconds(plain, queries, clusters)
        figures["microaggregation_ratio_to_plain"] = {
            "value": seconds / ours,
            "unit": "times faster",
            "baseline": f"Algorithms 1-5 written plainly: {seconds:.2f} s, {'equal' if same else 'OTHER'} clusters",
            "reach": None,
        }
    return figures


def _plain() -> ModuleType | None:
    """The yardstick, where the source tree is present."""
    if not PLAIN.is_file():
        return None
    spec = importlib.util.spec_from_file_location("plain_microaggregation", PLAIN)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _plain_seconds(plain: ModuleType, queries: Queries, clusters: list[list[int]]) -> tuple[float, bool]:
    logs: dict[int, list[tuple[int, list[str]]]] = {user: [] for user in range(queries.users)}
    for user, query, field in zip(*(c.tolist() for c in (queries.user, queries.query, queries.field)), strict=True):
        logs[user].append((query, [queries.fields[field]]))
    begin = time.process_time()
    matrix = plain.incidence_matrix(plain.classification_matrices(logs, LEVELS), queries.users)
    found = plain.partition(matrix, K)
    rng = random.Random(1)  # noqa: S311 (a yardstick)
    for cluster in found:
        plain.aggregate(cluster, logs, rng)
    return time.process_time() - begin, found == clusters


def _semantic(users: int) -> dict[str, Figure]:
    """File to file with the broad domain of setting B, ε/m a query."""
    batch, dictionaries = make_topical_log(load(), LogShape(users), 1)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "log.tsv"
        with create_log(source, Layout(), dictionaries) as out:
            out.write(batch)
        read_log(source)  # compiled readers are compiled once per installation, not once per release
        method = load_method("semantic")
        chosen = method.checked({"setting": "B", "ledger": str(Path(folder) / "ledger.json")})
        begin = time.perf_counter()
        outcome = method.run(Job(source, Path(folder) / "out.tsv", chosen))
        rate = outcome.records_in / (time.perf_counter() - begin)
    mechanism = build_mechanism(load(), SETTINGS["B"], Criterion.SQC2)
    return {
        "semantic_queries_per_s": {
            "value": rate,
            "unit": "queries/s",
            "baseline": f"the mechanism alone, written plainly: {_plain_rate(mechanism):,.0f} noun phrases/s",
            "reach": None,
        }
    }


def _plain_rate(mechanism: SemanticMechanism, count: int = 60) -> float:
    """Equation 7 as written: the quality of every candidate for every query, probabilities, one draw."""
    domain = mechanism.domains[0]
    rng = np.random.default_rng(int.from_bytes(os.urandom(8)))
    topic = mechanism.topic_of[domain.concepts]
    begin = time.process_time()
    for i in rng.integers(0, len(domain), count).tolist():
        quality = quality_row(domain, Criterion.SQC2, i, topic)
        weight = np.exp(0.01 * quality / (2 * sensitivity(domain, Criterion.SQC2)))
        rng.choice(len(domain), p=weight / weight.sum())
    return count / (time.process_time() - begin)
