"""`proxid release --method partition`: frequent items with noisy counts, more of them than ZEALOUS at the same cost."""

from typing import Final

import numpy as np
import pyarrow as pa

from proxid.lab.release.items import bounded_histogram, item_columns
from proxid.lab.release.noise import Noise, OpenDpNoise, from_grid
from proxid.lab.release.noisy import ITEM_OPTIONS, NOISY_OPTIONS, Report, opened, outcome, require_no_seed
from proxid.lab.release.partition.mechanism import select
from proxid.lab.release.partition.plan import NOISES, PartitionPlan, partition_plan
from proxid.lab.release.published import Published, published, write_published
from proxid.lab.release.purse import Purse
from proxid.lab.release.registry import Job, Method, Option, Outcome
from proxid.lab.release.zealous.plan import better_plan

OPTIONS: Final = (
    *ITEM_OPTIONS,
    Option("delta", float, 1e-6, "delta, approximate", minimum=0.0),
    Option("noise", str, "auto", "auto takes the noise with the lower threshold", NOISES),
    *NOISY_OPTIONS,
)


def publish(counted: pa.Table, kind: str, plan: PartitionPlan, noise: Noise) -> Published:
    """Noise, threshold, items with their noisy counts."""
    kept = select(counted.column("count").to_numpy().astype(np.int64), plan, noise)
    return published(counted.select(list(item_columns(kind))).take(pa.array(kept.index)), from_grid(kept.steps))


def run(job: Job) -> Outcome:
    """Count, add noise, write; the manifest names the threshold that ZEALOUS would have had."""
    require_no_seed(job)
    options = job.options
    kind, plan = options["items"], partition_plan(options["m"], options["epsilon"], options["delta"], options["noise"])
    purse, costs = Purse.of(job), [(f"partition {kind}", plan.guarantee)]
    purse.require(costs)
    with opened(job) as log:
        counted = log.engine.fetch(bounded_histogram(log.source.log, kind, plan.m))
        account = purse.charge(costs)
        release = publish(counted, kind, plan, OpenDpNoise())
        write_published(job.output, release)
        zealous = better_plan(plan.m, options["epsilon"], options["delta"], log.users)
        details = {"items": kind, **plan.as_dict(), "zealous_tau_prime": zealous.tau_prime}
        report = Report(details, log.warnings(plan.guarantee), release, counted.num_rows)
        return outcome(log, plan.guarantee.as_dict(), account, report)


METHOD: Final = Method(
    "partition", "frequent items with noisy counts (partition selection)", OPTIONS, run,
    "--items queries --m 5 --epsilon 1 --delta 1e-6 log.tsv -o counts.tsv",
)  # fmt: skip
