"""`proxid release --method sessions` (004 §3.2): A_Session, and with `--with-clicks` A_Click beside it.

Publishing both costs the sum (004 states epsilon for each); both are charged before either is drawn.
"""

from pathlib import Path
from typing import Any, Final

import ibis
import numpy as np
import pyarrow as pa

from proxid.lab.release.noise import Noise, OpenDpNoise, from_grid
from proxid.lab.release.noisy import NOISY_OPTIONS, Opened, Report, opened, outcome, require_no_seed
from proxid.lab.release.published import Published, published, write_published
from proxid.lab.release.purse import Purse
from proxid.lab.release.registry import Job, Method, Option, Outcome
from proxid.lab.release.sequences import LONGEST, sequence_histogram
from proxid.lab.release.sessions.counting import click_histogram
from proxid.lab.release.sessions.mechanism import sanitise
from proxid.lab.release.sessions.plan import TwoStepPlan, session_sensitivity, two_step_plan

NOISE_OPTIONS: Final = (
    Option("b", float, 1.0, "scale of the Laplace noise", minimum=0.0),
    Option("K", float, 20.0, "frequency threshold", minimum=0.0),
)
CLICKS_LIMIT: Final = Option("l", int, 4, "click records taken of a user", minimum=1)
OPTIONS: Final = (
    Option("gap_minutes", int, 30, "a longer pause ends a session", minimum=1),
    Option("l_s", int, 1, "sessions taken of a user", minimum=1),
    Option("l_q", int, 3, f"queries taken of a session, 2 to {LONGEST}", minimum=2),
    *NOISE_OPTIONS,
    Option("with_clicks", bool, False, "also publish clicks (A_Click, same b and K) beside OUT, at the summed cost"),
    CLICKS_LIMIT,
    *NOISY_OPTIONS,
)


def publish(log: Opened, histogram: ibis.Table, plan: TwoStepPlan, noise: Noise) -> tuple[Published, int]:
    """Noise and threshold on a histogram; what is published and how many items were counted."""
    counted = log.engine.fetch(histogram)
    kept = sanitise(counted.column("count").to_numpy().astype(np.int64), plan, noise)
    keys = counted.drop_columns(["count"]).take(pa.array(kept.index))
    return published(keys, from_grid(kept.steps)), counted.num_rows


def clicks_beside(output: Path) -> Path:
    """Where the clicks go that are published with sessions: NAME.clicks.tsv for NAME.tsv."""
    name, dot, rest = output.name.partition(".")
    return output.with_name(f"{name}.clicks{dot}{rest}")


def plans_of(options: Any) -> dict[str, TwoStepPlan]:
    """The plans of what the options publish, by name. Raises ConfigError when they guarantee nothing."""
    plans = {"sessions": two_step_plan(session_sensitivity(options["l_s"], options["l_q"]), options["b"], options["K"])}
    if options["with_clicks"]:
        plans["clicks"] = two_step_plan(options["l"], options["b"], options["K"])
    return plans


def histograms(log: ibis.Table, options: Any) -> dict[str, ibis.Table]:
    """What the options publish, counted: sessions and, with_clicks, clicks."""
    gap = 60 * options["gap_minutes"]
    tables = {"sessions": sequence_histogram(log, options["l_s"], options["l_q"], gap)}
    if options["with_clicks"]:
        tables["clicks"] = click_histogram(log, options["l"])
    return tables


def run(job: Job) -> Outcome:
    """Count, charge for everything that is published, add noise, write."""
    require_no_seed(job)
    options, plans = job.options, plans_of(job.options)
    total = plans["sessions"].guarantee
    if "clicks" in plans:
        total = total.and_then(plans["clicks"].guarantee)
    purse, costs = Purse.of(job), [(name, plan.guarantee) for name, plan in plans.items()]
    purse.require(costs)
    with opened(job) as log:
        tables = histograms(log.source.log, options)
        account = purse.charge(costs)
        outputs = {"sessions": job.output, "clicks": clicks_beside(job.output)}
        made = {name: publish(log, table, plans[name], OpenDpNoise()) for name, table in tables.items()}
        for name, (release, _) in made.items():
            write_published(outputs[name], release)
        report = Report(
            {name: {**plan.as_dict(), **plan.guarantee.as_dict()} for name, plan in plans.items()},
            log.warnings(total),
            *made["sessions"],
            extra={f"items of {name}": {"counted": n, "published": len(p)} for name, (p, n) in made.items()},
        )
        result = outcome(log, total.as_dict(), account, report)
        result.outputs = [outputs[name] for name in made]
        return result


METHOD: Final = Method(
    "sessions", "frequent query sequences of sessions (A_Session)", OPTIONS, run,
    "--l-s 1 --l-q 3 --K 20 log.tsv -o sequences.tsv",
)  # fmt: skip
