"""`proxid release --method ka` (004 §5.1): (query, URL, users) of clicks that more than K users made, without noise.

The baseline of 004. It gives no differential privacy, and no anonymity against an attacker who opens accounts
(003 §3.2): the manifest says so.
"""

from typing import Final

import numpy as np

from proxid.lab.release.noisy import ENGINE_OPTIONS, Report, opened, outcome, require_no_seed
from proxid.lab.release.published import published, write_published
from proxid.lab.release.registry import Job, Method, Option, Outcome
from proxid.lab.release.sessions.counting import click_users

OPTIONS: Final = (Option("K", int, 20, "publish clicks of more than so many users", minimum=1), *ENGINE_OPTIONS)
WARNINGS: Final = [
    "no differential privacy: exact counts are published",
    "whoever opens K accounts learns whether one more user made a click (Götz et al. 2012, example 2)",
    "whoever knows that only K + 1 people could have clicked knows that all did (Götz et al. 2012, example 1)",
]


def run(job: Job) -> Outcome:
    """Count distinct users, drop, write."""
    require_no_seed(job)
    with opened(job) as log:
        counted = log.engine.fetch(click_users(log.source.log, job.options["K"]))
        release = published(counted.select(["query", "url"]), counted.column("count").to_numpy().astype(np.float64))
        write_published(job.output, release)
        guarantee = {"kind": "frequency threshold", "users_over": job.options["K"]}
        return outcome(log, guarantee, None, Report({"K": job.options["K"]}, WARNINGS, release, len(release)))


METHOD: Final = Method(
    "ka", "clicks of more than K users, no noise (baseline)", OPTIONS, run,
    "--K 20 log.tsv -o clicks.tsv",
)  # fmt: skip
