"""`proxid release --method k-session` (Motwani and Nabar; 003 §3): sessions that k - 1 others equal, word by word.

In each session the user is replaced by a random number; then keywords are added or deleted until every session has the
same keywords as k - 1 others. Which sessions are made alike the paper leaves open: here they are put in order of their
keywords, the log's most frequent first, and every k neighbours get the words that more than half of them have, which
adds and deletes least. A session is one row, its keywords in that order; times, ranks and clicks are not published.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from proxid.lab.logs import Dictionaries, LogBatch, create_log, layout_of
from proxid.lab.release.items import GAP_SECONDS
from proxid.lab.release.k_anonymous.query import random_numbers, read_records, sessions_of
from proxid.lab.release.noisy import require_no_seed
from proxid.lab.release.registry import Job, Method, Option, Outcome

OPTIONS: Final = (
    Option("k", int, 10, "sessions that have the same keywords at least", minimum=2),
    Option("gap_minutes", int, GAP_SECONDS // 60, "a longer pause ends a session", minimum=1),
)
WARNINGS: Final = [
    "no differential privacy: words are published as they are",
    "k sessions of one person may be the k that are alike: what is anonymous is a session, not a person",
]
Words = frozenset[str]


def k_session_anonymous(sessions: Sequence[Words], k: int) -> list[tuple[str, ...]]:
    """The keywords of each session, in the order given; () of all where there are fewer than k sessions."""
    frequency = Counter(word for words in sessions for word in words)
    ordered = [tuple(sorted(words, key=lambda word: (-frequency[word], word))) for words in sessions]
    places = sorted(range(len(sessions)), key=ordered.__getitem__)
    found: list[tuple[str, ...]] = [()] * len(sessions)
    for run in _runs(places, k):
        held = Counter(word for place in run for word in sessions[place])
        kept = [word for word, times in held.items() if 2 * times > len(run)]
        alike = tuple(sorted(kept, key=lambda word: (-frequency[word], word)))
        for place in run:
            found[place] = alike
    return found


def _runs(places: list[int], k: int) -> Iterator[list[int]]:
    """Every k in order; the last run has the rest as well."""
    for at in range(0, len(places) - k + 1, k):
        yield places[at:] if len(places) - at < 2 * k else places[at : at + k]


def run(job: Job) -> Outcome:
    """Read, part into sessions, make alike, number, write."""
    require_no_seed(job)
    log, whole, spellings = read_records(job)
    sessions = _keywords(whole, log.dictionaries, 60 * job.options["gap_minutes"])
    shown = k_session_anonymous(sessions, job.options["k"])
    kept = [" ".join(words) for words in shown if words]
    named = Dictionaries()
    numbers = np.sort(random_numbers(len(kept)))
    users = named.user.encode([str(number) for number in numbers.tolist()])
    texts = named.query.encode([kept[at] for at in np.random.default_rng().permutation(len(kept)).tolist()])
    none, layout = np.full(len(kept), -1, np.int32), layout_of(job.output, like=log.layout)
    with create_log(job.output, replace(layout, fields=("user", "query"), types=()), named) as out:
        out.write(LogBatch(users, texts, none, np.full(len(kept), np.nan), none, none, np.arange(len(kept)), none))
    changed = [
        (len(set(words) - before), len(before - set(words))) for words, before in zip(shown, sessions, strict=True)
    ]
    return Outcome(
        {"kind": "k-session anonymity", "k": job.options["k"], "unit": "session"},
        records_in=len(whole),
        records_out=len(kept),
        bad_rows=dict(log.bad.counts),
        bad_lines=list(log.bad.lines),
        details={
            "sessions": len(sessions),
            "sessions_emptied": len(sessions) - len(kept),
            "keywords_added": sum(added for added, _ in changed),
            "keywords_deleted": sum(deleted for _, deleted in changed),
            "warnings": [*WARNINGS, *spellings.warnings()],
        },
    )


def _keywords(log: LogBatch, known: Dictionaries, gap: int) -> list[Words]:
    numbers = sessions_of(log, gap)
    words: list[set[str]] = [set() for _ in range(int(numbers.max(initial=-1)) + 1)]
    for session, query in zip(numbers.tolist(), log.query.tolist(), strict=True):
        words[session].update(known.query[query].split())
    return [frozenset(found) for found in words]


METHOD: Final = Method(
    "k-session", "sessions whose keywords k - 1 others have too (Motwani and Nabar)", OPTIONS, run,
    "--k 10 log.tsv -o sessions.tsv",
)  # fmt: skip
