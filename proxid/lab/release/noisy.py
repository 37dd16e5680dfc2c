"""What the noisy methods of `proxid release` share: options, engine, ledger, outcome (DESIGN 13).

The seed policy is the same for all: noise comes from OpenDP's own generator, a given seed is refused, so no seed can
ever be used to strip the noise.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from proxid.errors import ConfigError
from proxid.lab.release.account import Account, Part
from proxid.lab.release.engines import Engine, open_engine
from proxid.lab.release.engines.base import EngineSettings
from proxid.lab.release.engines.open import ENGINES
from proxid.lab.release.guarantee import Guarantee, delta_warnings
from proxid.lab.release.items import KINDS
from proxid.lab.release.published import Published
from proxid.lab.release.purse import BUDGET_OPTIONS, PART_OPTION, account_details
from proxid.lab.release.registry import Job, Option, Outcome
from proxid.lab.release.same_users import spelling_warnings
from proxid.lab.release.source import Source, open_source

SEED_POLICY: Final = "noise from OpenDP's samplers over the system's secure generator; no seed exists, none is taken"

STAGES: Final = 3
"""Reading, counting, drawing noise and writing: what a progress bar can show of an engine's work."""

ENGINE_OPTIONS: Final = (
    Option(
        "engine", str, "duckdb", "what counts: DuckDB embedded, or Spark (local or PROXID_SPARK_MASTER)", tuple(ENGINES)
    ),
    Option("threads", int, 0, "threads of the engine; 0: all cores", minimum=0),
    Option("memory_gb", float, 4.0, "gigabytes for the engine's operators; more spills to disk", minimum=0.25),
)
USERS_OPTION: Final = Option(
    "users", int, 0, "U, the public number of users; 0: counted, and so published with the release", minimum=0
)
ITEM_OPTIONS: Final = (
    Option("items", str, "queries", "what is counted and published", tuple(KINDS)),
    Option("m", int, 5, "distinct items that a user contributes at most", minimum=1),
    Option("epsilon", float, 1.0, "epsilon, replacing one user's history", minimum=0.0),
)
"""What a method that publishes items with noisy counts begins with."""
NOISY_OPTIONS: Final = (USERS_OPTION, *ENGINE_OPTIONS, *BUDGET_OPTIONS, PART_OPTION)
"""What every noisy method ends with."""


def require_no_seed(job: Job) -> None:
    """Raises ConfigError when a seed or a truth file was asked for: either could be used to strip the noise."""
    if job.truth is not None:
        raise ConfigError("this method writes no truth: nothing published belongs to one record")
    if job.seed is not None:
        raise ConfigError("this method takes no seed: whoever knew it could strip the noise")


@dataclass(slots=True)
class Opened:
    """A log on an engine, with its public number of users and where that number is from."""

    engine: Engine
    source: Source
    users: int
    users_from: str
    spellings: int = 0

    def warnings(self, guarantee: Guarantee) -> list[str]:
        """What the manifest flags about a guarantee on this log."""
        return [*delta_warnings(guarantee, self.users), *spelling_warnings(self.spellings)]


@contextmanager
def opened(job: Job) -> Iterator[Opened]:
    """The job's input on the job's engine, cut to the part of users asked for. Raises ConfigError, InputError."""
    options = job.options
    part = Part.parse(options.get("part", ""))
    with (
        open_engine(options["engine"], EngineSettings(options["threads"], options["memory_gb"])) as engine,
        open_source(job.source, engine, lambda done, size: job.progress(done, STAGES * size)) as source,
    ):
        job.progress(1, STAGES)
        spellings = source.join_spellings()
        if part.parts > 1:
            source.only_part(part.part, part.parts)
        users, users_from = int(options.get("users", 0)), "declared"
        if not users:
            users, users_from = int(source.log.user.nunique().execute()), "counted from the log, published with it"
        yield Opened(engine, source, max(1, users), users_from, spellings)


@dataclass(slots=True)
class Report:
    """What a noisy release says about itself beyond its guarantee."""

    plan: dict[str, Any]
    warnings: list[str]
    published: Published
    counted: int
    reason: str = "items not over the threshold"
    extra: dict[str, Any] = field(default_factory=dict)


def outcome(log: Opened, guarantee: dict[str, Any], account: Account | None, report: Report) -> Outcome:
    """The method's outcome. Counts of the input are exact and for the operator, not for publication."""
    details: dict[str, Any] = {
        "plan": report.plan,
        "users": {"value": log.users, "source": log.users_from},
        "engine": log.engine.name,
        "warnings": report.warnings,
        "seed_policy": SEED_POLICY,
        "items": {"counted": report.counted, "published": len(report.published)},
        "for_the_operator_only": ["records_in", "suppressed", "bad_rows", "input digest", "items.counted"],
        **report.extra,
    }
    if account is not None:
        details["ledger"] = account_details(account)
    return Outcome(
        guarantee,
        records_in=log.source.rows,
        records_out=len(report.published),
        suppressed={report.reason: report.counted - len(report.published)},
        bad_rows=log.source.bad_rows,
        details=details,
    )
