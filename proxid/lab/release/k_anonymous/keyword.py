"""`proxid release --method k-keyword` (He and Naughton; 003 §3): keywords cut to prefixes that k people used.

A keyword of fewer than k distinct users loses its last letter, again and again, until what is left is part of k
histories; a prefix is shown with `*`. Published is how many people have each. The attacks of 003 §3.2 work on it.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np

from proxid.lab.logs import open_log
from proxid.lab.release.noisy import require_no_seed
from proxid.lab.release.published import Published, write_published
from proxid.lab.release.registry import Job, Method, Option, Outcome
from proxid.lab.release.same_users import Spellings

OPTIONS: Final = (Option("k", int, 10, "distinct users that a published keyword or prefix has at least", minimum=2),)
WARNINGS: Final = [
    "no differential privacy: exact counts are published",
    "whoever opens k - 1 accounts learns whether one more user used a keyword (Götz et al. 2012, example 2)",
]
Users = set[str]


def k_keyword_anonymous(pairs: Iterable[tuple[str, str]], k: int) -> dict[str, int]:
    """Users of each keyword, or prefix with `*`, that k or more have; `pairs` are (user, keyword)."""
    users: dict[str, Users] = defaultdict(set)
    for user, word in pairs:
        users[word].add(user)
    cut: set[str] = set()
    found: dict[str, int] = {}
    for length in range(max(map(len, users), default=0), 0, -1):
        for word in [word for word in users if len(word) == length]:
            people = users.pop(word)
            if len(people) >= k:
                found[word + "*" * (word in cut)] = len(people)
            elif length > 1:
                users[word[:-1]] |= people
                cut.add(word[:-1])
    return found


def run(job: Job) -> Outcome:
    """Read, count distinct users by keyword, cut, write."""
    require_no_seed(job)
    pairs: set[tuple[str, str]] = set()
    with open_log(job.source) as log:
        spellings = Spellings(log.dictionaries.user)
        for batch in log:
            joined, known = spellings.joined(batch), log.dictionaries
            keys = np.unique(joined.user.astype(np.int64) << 32 | joined.query).tolist()
            pairs |= {(known.user[key >> 32], word) for key in keys for word in known.query[key & 0xFFFFFFFF].split()}
            job.progress(log.position, log.size)
    found = k_keyword_anonymous(pairs, job.options["k"])
    items = sorted(found, key=lambda word: (-found[word], word))
    counts = np.array([found[word] for word in items], np.int64)
    write_published(job.output, Published(("keyword",), [(word,) for word in items], counts))
    return Outcome(
        {"kind": "k-keyword anonymity", "k": job.options["k"], "unit": "user-id"},
        records_in=log.rows,
        records_out=len(items),
        bad_rows=dict(log.bad.counts),
        bad_lines=list(log.bad.lines),
        details={
            "keywords": len({word for _, word in pairs}),
            "shown_as_prefix": sum(word.endswith("*") for word in items),
            "warnings": [*WARNINGS, *spellings.warnings()],
        },
    )


METHOD: Final = Method(
    "k-keyword", "keywords, or prefixes of them, of k or more users (He and Naughton)", OPTIONS, run,
    "--k 10 log.tsv -o keywords.tsv",
)  # fmt: skip
