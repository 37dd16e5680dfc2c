"""`proxid release --method zealous` (003 §5): frequent keywords, queries, pairs or clicks, with noisy counts."""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from proxid.errors import ConfigError
from proxid.lab.release.items import bounded_histogram, item_columns
from proxid.lab.release.noise import Noise, OpenDpNoise, from_grid
from proxid.lab.release.noisy import ITEM_OPTIONS, NOISY_OPTIONS, Opened, Report, opened, outcome, require_no_seed
from proxid.lab.release.published import Published, published, write_published
from proxid.lab.release.purse import Purse
from proxid.lab.release.registry import Job, Method, Option, Outcome
from proxid.lab.release.zealous.mechanism import sanitise
from proxid.lab.release.zealous.plan import ANALYSES, ZealousPlan, zealous_plan

OPTIONS: Final = (
    *ITEM_OPTIONS,
    Option("delta", float, 1e-6, "delta of the chosen analysis", minimum=0.0),
    Option(
        "analysis", str, ANALYSES[0], "which theorem sets the thresholds: Theorem 2 or 1 of Götz et al. 2012", ANALYSES
    ),
    Option("tau", int, 0, "threshold before the noise; 0: the best for the analysis", minimum=0),
    Option("tau_prime", float, 0.0, "threshold after the noise; 0: the least that gives the guarantee", minimum=0.0),
    *NOISY_OPTIONS,
)


def plan_of(options: Any, users: int) -> ZealousPlan:
    """The plan that a job's options ask for. Raises ConfigError, with the reason, when they guarantee nothing."""
    return zealous_plan(
        options["analysis"],
        options["m"],
        options["epsilon"],
        options["delta"],
        users,
        options["tau"] or None,
        options["tau_prime"] or None,
    )


def count_items(log: Opened, kind: str, plan: ZealousPlan) -> pa.Table:
    """003 steps 1 to 3 on the log's engine."""
    return log.engine.fetch(bounded_histogram(log.source.log, kind, plan.m, plan.tau))


def require_users(counted: pa.Table, m: int, users: int) -> None:
    """Raises ConfigError when U users cannot have contributed what was counted: the declared U is too low."""
    if (pc.sum(counted.column("count")).as_py() or 0) > users * m:
        raise ConfigError("users is below the log's number of users: the bound on rare items would not hold")


def publish(counted: pa.Table, kind: str, plan: ZealousPlan, noise: Noise) -> Published:
    """003 steps 4 to 6: noise, threshold, items with their noisy counts."""
    counts = counted.column("count").to_numpy().astype(np.int64)
    kept = sanitise(counts, plan, noise)
    return published(counted.select(list(item_columns(kind))).take(pa.array(kept.index)), from_grid(kept.steps))


def run(job: Job) -> Outcome:
    """Count, add noise, write."""
    require_no_seed(job)
    kind = job.options["items"]
    # Refused before the log is read; what it costs does not depend on the number of users.
    costs = [(f"zealous {kind}", plan_of(job.options, job.options["users"] or 2).guarantee)]
    purse = Purse.of(job)
    purse.require(costs)
    with opened(job) as log:
        plan = plan_of(job.options, log.users)
        counted = count_items(log, kind, plan)
        require_users(counted, plan.m, log.users)
        account = purse.charge(costs)
        release = publish(counted, kind, plan, OpenDpNoise())
        write_published(job.output, release)
        report = Report(
            {"items": kind, "analysis": job.options["analysis"], **plan.as_dict()},
            log.warnings(plan.guarantee),
            release,
            counted.num_rows,
            "items with tau users or more, not over tau'",
        )
        return outcome(log, plan.guarantee.as_dict(), account, report)


METHOD: Final = Method(
    "zealous", "frequent items with noisy counts (ZEALOUS)", OPTIONS, run,
    "--items queries --m 5 --epsilon 1 --delta 1e-6 log.tsv -o counts.tsv",
)  # fmt: skip
