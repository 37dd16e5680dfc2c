"""`proxid release --method clicks` (004 §3.2.2): A_Click, frequent (query, URL) pairs with noisy counts."""

from typing import Final

from proxid.lab.release.noise import OpenDpNoise
from proxid.lab.release.noisy import NOISY_OPTIONS, Report, opened, outcome, require_no_seed
from proxid.lab.release.published import write_published
from proxid.lab.release.purse import Purse
from proxid.lab.release.registry import Job, Method, Outcome
from proxid.lab.release.sessions.counting import click_histogram
from proxid.lab.release.sessions.method import CLICKS_LIMIT, NOISE_OPTIONS, publish
from proxid.lab.release.sessions.plan import two_step_plan

OPTIONS: Final = (CLICKS_LIMIT, *NOISE_OPTIONS, *NOISY_OPTIONS)


def run(job: Job) -> Outcome:
    """Count, add noise, write."""
    require_no_seed(job)
    plan = two_step_plan(job.options["l"], job.options["b"], job.options["K"])
    purse, costs = Purse.of(job), [("clicks", plan.guarantee)]
    purse.require(costs)
    with opened(job) as log:
        account = purse.charge(costs)
        release, counted = publish(log, click_histogram(log.source.log, job.options["l"]), plan, OpenDpNoise())
        write_published(job.output, release)
        report = Report(plan.as_dict(), log.warnings(plan.guarantee), release, counted)
        return outcome(log, plan.guarantee.as_dict(), account, report)


METHOD: Final = Method(
    "clicks", "frequent clicks, query and URL (A_Click)", OPTIONS, run,
    "--l 4 --K 20 log.tsv -o clicks.tsv",
)  # fmt: skip
