"""`proxid release --form cohort`: pairs in fixed cohorts of n people, all of them present each time.

At a node people are put into cohorts of n once, by how often they ask there, which everybody may know. A group holds
the next record of every member and of nobody else, published under a uniform permutation of the members. Exchanging two
members' contents for all time changes the probability of no release: from an even prior each has 1/n for ever
(docs/anonymity.md). It needs the whole log beforehand, and holds back whatever a cohort's least active member does not
match.
"""

import secrets
from collections import Counter
from contextlib import ExitStack
from dataclasses import fields

import numpy as np

from proxid.lab.columns.released import Released
from proxid.lab.logs import CategoryTree, Dictionaries, LogBatch, create_log, layout_of
from proxid.lab.logs.jit import Codes, Longs
from proxid.lab.logs.strings import StringTable
from proxid.lab.release.duration import parse_duration
from proxid.lab.release.forms.guarantee import cohort_guarantee
from proxid.lab.release.forms.reading import read_whole
from proxid.lab.release.registry import Job, Outcome
from proxid.lab.release.truth import open_truth
from proxid.lab.release.visible import Shown

NO_TEXT = np.int32(-1)


def cohort_groups(user: Codes, node: Codes, n: int) -> tuple[Longs, Longs]:
    """Rows that leave and the number of each one's group, groups together; rows of a person in order."""
    rows: list[int] = []
    numbers: list[int] = []
    group = 0
    for where in np.unique(node).tolist():
        here = np.flatnonzero(node == where)
        people, first, times = _queues(user[here])
        order = np.lexsort((people, -times))
        queued = here[np.argsort(user[here], kind="stable")]
        for start in range(0, len(order) - n + 1, n):
            members = order[start : start + n]
            for turn in range(int(times[members].min())):
                rows += queued[first[members] + turn].tolist()
                numbers += [group] * n
                group += 1
    return np.array(rows, np.int64), np.array(numbers, np.int64)


def _queues(user: Codes) -> tuple[Codes, Longs, Longs]:
    return np.unique(np.sort(user), return_index=True, return_counts=True)


def cohort_log(
    batch: LogBatch, tree: CategoryTree, *, n: int, level: int, bucket_s: int, seed: int | None
) -> tuple[Released, Counter[str]]:
    """Release a log in cohorts; what is left out, by reason. Texts are not shown: they are not permuted with names."""
    rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
    node = tree.ancestors(level)[np.maximum(batch.category, 0)].astype(np.int32)
    rows, group = cohort_groups(batch.user, node, n)
    size = len(rows) // n
    under = rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1) + np.arange(size)[:, None] * n
    order = (rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1) + np.arange(size)[:, None] * n).reshape(-1)
    published = batch.user[rows][under.reshape(-1)]
    when = np.nan_to_num(batch.time[rows]).reshape(-1, n).max(axis=1, initial=0.0) if size else np.zeros(0)
    time = np.repeat(np.floor(when / bucket_s) * bucket_s, n)
    none = np.full(len(rows), NO_TEXT)
    number, source = group.astype(np.int32), batch.row[rows]
    made = Released(published, none, none, none, batch.category[rows], none, none, number, time, source, source)
    shuffled = Released(*(getattr(made, column.name)[order] for column in fields(Released)))
    return shuffled, Counter(cohort_incomplete=len(batch) - len(rows))


def run(job: Job) -> Outcome:
    """Read the log whole, release it in cohorts. Raises ConfigError, InputError, OutputError."""
    options, n = job.options, job.options["k"] + 1 + job.options["margin"]
    bucket = int(parse_duration(options["time_bucket"], "time_bucket") or 1)
    with ExitStack() as stack:
        log, batch, spellings = read_whole(job, stack)
        known = log.dictionaries
        released, suppressed = cohort_log(
            batch, known.tree, n=n, level=options["level"], bucket_s=bucket, seed=job.seed
        )  # fmt: skip
        layout = layout_of(job.output, like=log.layout).having("category", "group")
        truth = stack.enter_context(open_truth(job.truth))
        empty = Dictionaries(user=known.user, query=StringTable([""]), url=known.url, tree=known.tree)
        out = stack.enter_context(create_log(job.output, layout, empty))
        out.write(Shown(known, None).log(released))
        truth.write(released)
    return Outcome(
        guarantee=cohort_guarantee(options, n, known_seed=job.seed is not None),
        records_in=log.rows,
        records_out=len(released),
        suppressed=dict(suppressed),
        bad_rows=dict(log.bad.counts),
        bad_lines=list(log.bad.lines),
        details={"order": "time", "warnings": spellings.warnings()},
        outputs=[job.output],
        uncategorised=log.uncategorised,
    )
