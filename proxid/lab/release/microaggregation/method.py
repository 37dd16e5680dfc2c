"""`proxid release --method microaggregation` (001; DESIGN 13).

A user's released log is the representative of the user's cluster: the same for all its members, texts as they were,
with their categories; times, ranks and URLs, which would tell the members' own queries apart, are left out.
"""

from pathlib import Path
from typing import Any

import numpy as np

from proxid.lab.logs.batch import NONE, Dictionaries, LogBatch
from proxid.lab.logs.files import create_log, read_log
from proxid.lab.logs.whole import whole_file
from proxid.lab.release.microaggregation.matrices import Ints
from proxid.lab.release.microaggregation.mechanism import (
    Queries,
    Representative,
    make_clusters,
    microaggregate,
    released_columns,
)
from proxid.lab.release.microaggregation.partition import random_partition
from proxid.lab.release.registry import Job, Method, Option, Outcome
from proxid.loglines.layout import layout_of


def columns(batch: LogBatch, dictionaries: Dictionaries) -> tuple[Queries, Ints]:
    """The log as the algorithm takes it, users and category fields renumbered; and the code of every user number."""
    codes, user = np.unique(batch.user, return_inverse=True)
    nodes, field = np.unique(batch.category, return_inverse=True)
    fields = [dictionaries.category[node] if node != NONE else "" for node in nodes.tolist()]
    queries = Queries(user.astype(np.int64), batch.query.astype(np.int64), field.astype(np.int64), fields, len(codes))
    return queries, codes.astype(np.int64)


def run(job: Job) -> Outcome:
    """The method `microaggregation`. Raises ConfigError, InputError."""
    batch, log = read_log(job.source, classifier=job.classifier)
    queries, codes = columns(batch, log.dictionaries)
    rng, options = np.random.default_rng(job.seed), job.options
    if options["partition"] == "random":
        clusters = random_partition(queries.users, options["k"], rng)
    else:
        clusters = make_clusters(queries, options["k"], options["levels"], options["categories"], rng)
    representatives = microaggregate(queries, clusters, rng, job.progress)
    user, query, owner = released_columns(representatives)
    origin = _first_issued(batch, codes[owner], query)
    released = _as_log(batch, codes[user], query, origin)
    with create_log(job.output, layout_of(job.output, like=log.layout).having("category"), log.dictionaries) as out:
        out.write(released)
    if job.truth is not None:
        _write_truth(job.truth, batch.row[origin])
    return Outcome(
        guarantee=guarantee(representatives),
        records_in=len(batch),
        records_out=len(released),
        bad_rows=dict(log.bad.counts),
        bad_lines=list(log.bad.lines),
        details={
            "clusters": len(clusters),
            "distinct_queries_in": len(np.unique(batch.query)),
            "distinct_queries_out": len(np.unique(query)),
        },
        outputs=[job.output],
        uncategorised=log.uncategorised,
    )


def _first_issued(batch: LogBatch, user: Ints, query: Ints) -> Ints:
    """Position in the batch of the first record with each (user, query)."""
    width = int(batch.query.max(initial=0)) + 1
    key, first = np.unique(batch.user.astype(np.int64) * width + batch.query, return_index=True)
    position: Ints = first[np.searchsorted(key, user * width + query)]
    return position


def _as_log(batch: LogBatch, user: Ints, query: Ints, origin: Ints) -> LogBatch:
    n = len(user)
    none = np.full(n, NONE, np.int32)
    return LogBatch(
        user=user.astype(np.int32), query=query.astype(np.int32), category=batch.category[origin],
        time=np.full(n, np.nan), rank=none, url=none, row=np.arange(n), group=none,
    )  # fmt: skip


def _write_truth(path: Path, rows: Ints) -> None:
    with whole_file(path, 0o600) as file:
        file.write("".join(f"{i}\t{row}\n" for i, row in enumerate(rows.tolist())).encode())


def guarantee(representatives: list[Representative]) -> dict[str, Any]:
    """What the release gives: equal logs in a cluster, and an owner found with the chance of its contribution."""
    sizes = [len(r.members) for r in representatives]
    largest = [r.contribution for r in representatives]
    return {
        "kind": "user k-anonymity of released logs",
        "k": min(sizes),
        "bound": {"worst": max(largest), "median_cluster": float(np.median(largest))},
        "adversary": "knows how many queries every user issued: finds a query's owner with the largest contribution "
        "of its cluster, not with 1/k",
        "texts": "as they were issued: a text that names its owner still does",
    }


METHOD = Method(
    "microaggregation",
    "clusters of k users with common interests publish one log (Erola et al. 2011)",
    (
        Option("k", int, 3, "users in a cluster", (), 2),
        Option("levels", int, 5, "depth L of the category tree", (), 1),
        Option(
            "categories", int, 1,
            "categories of a query that count, 1 to 5; a category field may hold several, parted by |", (), 1,
        ),
        Option(
            "partition", str, "similar", "similar: by common interests; random: the evaluation's baseline",
            ("similar", "random"),
        ),
    ),
    run,
    "--k 3 --levels 5 log.tsv -o clustered.tsv",
)  # fmt: skip
