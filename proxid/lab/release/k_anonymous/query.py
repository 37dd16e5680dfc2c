"""`proxid release --method k-query` (Adar; 003 §3): queries of k or more users, session numbers in place of users.

A query that fewer than k distinct users asked is dropped; in each session the user is replaced by a random number.
Rows come out by session number, so that their order links no two sessions of a user. It gives no differential privacy:
the homogeneity and the active attack of 003 §3.2 work on it (`proxid.lab.attacks.counted`).
"""

import secrets
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from proxid.lab.logs import Dictionaries, LogBatch, create_log, layout_of, open_log
from proxid.lab.logs.base import LogReader
from proxid.lab.release.items import GAP_SECONDS
from proxid.lab.release.noisy import require_no_seed
from proxid.lab.release.registry import Job, Method, Option, Outcome
from proxid.lab.release.same_users import Spellings
from proxid.loglines.layout import AOL_FIELDS

OPTIONS: Final = (
    Option("k", int, 10, "distinct users that a published query has at least", minimum=2),
    Option("gap_minutes", int, GAP_SECONDS // 60, "a longer pause ends a session", minimum=1),
)
WARNINGS: Final = [
    "no differential privacy: queries are published as they are, with their times",
    "whoever opens k - 1 accounts learns whether one more user asked a query (Götz et al. 2012, example 2)",
    "whoever knows that only k people could have asked a query knows that all did (Götz et al. 2012, example 1)",
]
_STEP: Final = 1 << 20

Longs = npt.NDArray[np.int64]


def users_by_query(log: LogBatch, queries: int) -> Longs:
    """The number of distinct users of each query code."""
    pairs = np.unique(log.query.astype(np.int64) << 32 | log.user)
    return np.bincount(pairs >> 32, minlength=queries)


def sessions_of(log: LogBatch, gap: int) -> Longs:
    """The session of each record: 0, 1, ... over all users; a user's next session begins after a pause over `gap` s."""
    time = np.nan_to_num(log.time, nan=0.0)
    order = np.lexsort((log.row, time, log.user))
    user, moment = log.user[order], time[order]
    starts = np.r_[True, (user[1:] != user[:-1]) | (np.diff(moment) > gap)][: len(order)]
    sessions = np.empty(len(order), np.int64)
    sessions[order] = np.cumsum(starts) - 1
    return sessions


def random_numbers(count: int) -> Longs:
    """Distinct random numbers of 62 bits from the system's generator, in no order."""
    while True:
        drawn = np.frombuffer(secrets.token_bytes(8 * count), np.int64) & ((1 << 62) - 1)
        if len(np.unique(drawn)) == count:
            return drawn


def k_query_anonymous(log: LogBatch, queries: int, k: int, gap: int) -> tuple[LogBatch, Longs]:
    """The records that stay, by session number then time, and their session numbers."""
    keep = users_by_query(log, queries)[log.query] >= k
    sessions = sessions_of(log, gap)
    numbers = random_numbers(int(sessions.max()) + 1 if len(sessions) else 0)[sessions][keep]
    kept = log.take(keep)
    order = np.lexsort((kept.row, np.nan_to_num(kept.time, nan=0.0), numbers))
    return kept.take(order), numbers[order]


def read_records(job: Job) -> tuple[LogReader, LogBatch, Spellings]:
    """A log that was read, its records under one name a user, and how names were spelled; raises InputError."""
    batches = []
    with open_log(job.source) as log:
        for batch in log:
            batches.append(batch)
            job.progress(log.position, log.size)
    spellings = Spellings(log.dictionaries.user)
    return log, spellings.joined(LogBatch.concatenate(batches)), spellings


def run(job: Job) -> Outcome:
    """Read, count distinct users, drop, number the sessions, write."""
    require_no_seed(job)
    log, whole, spellings = read_records(job)
    known = log.dictionaries
    kept, numbers = k_query_anonymous(whole, len(known.query), job.options["k"], 60 * job.options["gap_minutes"])
    fields = [name for name in log.layout.fields if name in AOL_FIELDS]
    named = Dictionaries(query=known.query, url=known.url, tree=known.tree)
    layout = layout_of(job.output, like=log.layout)
    with create_log(job.output, replace(layout, fields=tuple(fields), types=()), named) as out:
        for start in range(0, len(kept), _STEP):
            part = kept.take(slice(start, start + _STEP))
            names = named.user.encode([str(number) for number in numbers[start : start + _STEP].tolist()])
            out.write(_with_user(part, names))
    return Outcome(
        {"kind": "k-query anonymity", "k": job.options["k"], "unit": "user-id"},
        records_in=len(whole),
        records_out=len(kept),
        suppressed={"query of fewer than k users": len(whole) - len(kept)},
        bad_rows=dict(log.bad.counts),
        bad_lines=list(log.bad.lines),
        details={
            "warnings": [*WARNINGS, *spellings.warnings()],
            "seed_policy": "session numbers from the system's generator; no seed is taken",
        },
    )


def _with_user(part: LogBatch, user: npt.NDArray[np.int32]) -> LogBatch:
    none = np.full(len(part), -1, np.int32)
    return LogBatch(user, part.query, none, part.time, part.rank, part.url, part.row, none)


METHOD: Final = Method(
    "k-query", "queries of k or more users, session numbers for users (Adar)", OPTIONS, run,
    "--k 10 log.tsv -o texts.tsv",
)  # fmt: skip
