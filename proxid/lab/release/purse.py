"""What a release pays from: the ledger, the log's account in it, and the budget that the options declare (DESIGN 13).

A log is known by the name that `--dataset` gives it, else by the digest of its records. A method asks with `require`
before it counts, so that nobody waits for a release that is refused, and pays with `charge` before its noise is drawn.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from proxid.errors import ConfigError
from proxid.lab.logs.digest import digest_of, digest_of_records
from proxid.lab.release.account import Account, Entry, Part, entry_now
from proxid.lab.release.guarantee import Guarantee, Relation, require_epsilon_delta
from proxid.lab.release.ledger import Ledger, default_ledger
from proxid.lab.release.registry import Job, Option, Outcome

BUDGET_OPTIONS: Final = (
    Option("dataset", str, "", "name of the data, whose budget is charged; empty: known by its records"),
    Option("ledger", str, "", "the budget ledger's file; empty: release-ledger.json in the user's state folder"),
    Option("budget_epsilon", float, 0.0, "declare the log's budget: epsilon", minimum=0.0),
    Option(
        "budget_delta", float, 0.0,
        "declare the log's budget: delta; 0: that of as many releases like the first as epsilon allows", minimum=0.0,
    ),
    Option("budget_relation", str, "replace", "neighbours the budget is stated for", ("replace", "add-remove")),
    Option("experiment", bool, False, "of nobody's data: charge no budget; the manifest then guarantees nothing"),
)  # fmt: skip
PART_OPTION: Final = Option("part", str, "", "release about a class of users only, i/n by a hash of the user id")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")

UNPAID: Final = "an experiment: no budget was charged, and releases of the same log add up; for nobody's data alone"

Costs = Sequence[tuple[str, Guarantee]]
"""What a release publishes, and what each costs."""


@dataclass(frozen=True, slots=True)
class Purse:
    """A log's account. part: the users that a release is about. declared: its budget, if the options declare one.

    ledger: None of an experiment, which pays nothing.
    """

    ledger: Ledger | None
    key: str
    name: str
    part: Part
    declared: Guarantee | None

    @classmethod
    def of(cls, job: Job) -> Self:
        """The purse of a job's log, which is read for its records once. Raises BudgetError, ConfigError, InputError."""
        options = job.options
        part, declared = Part.parse(options.get("part", "")), declared_budget(options)
        if options["experiment"]:
            if declared is not None:
                raise ConfigError("an experiment charges no budget: declare none")
            return cls(None, "", job.source.name, part, None)
        ledger = Ledger(Path(options["ledger"]) if options["ledger"] else default_ledger())
        return cls(ledger, key_of(ledger, job.source, options["dataset"]), job.source.name, part, declared)

    def require(self, costs: Costs) -> None:
        """Raises BudgetError where `charge` would."""
        if self.ledger is not None:
            self.ledger.check(self.key, self._entry(costs), self.declared)

    def charge(self, costs: Costs) -> Account | None:
        """Take the costs of a release, all or none; None of an experiment. Raises BudgetError."""
        if self.ledger is None:
            return None
        return self.ledger.charge(self.key, self._entry(costs), self.declared, self.name)

    def _entry(self, costs: Costs) -> Entry:
        total = costs[0][1]
        for _, cost in costs[1:]:
            total = total.and_then(cost)
        return entry_now(" + ".join(name for name, _ in costs), total, self.part)


def key_of(ledger: Ledger, log: Path, dataset: str = "") -> str:
    """Under which key a log is charged: its dataset's, the one its file had before, else its records'.

    Raises BudgetError if it is charged to another dataset. ConfigError, InputError.
    """
    sha256 = digest_of(log)
    if dataset:
        return ledger.remember(sha256, dataset_key(dataset))
    return ledger.key_of(sha256) or ledger.remember(sha256, f"records:{digest_of_records(log)}")


def dataset_key(name: str) -> str:
    """The key of a dataset's account. Raises ConfigError for what is no name."""
    if not _NAME.fullmatch(name):
        raise ConfigError("dataset is a name: letters, digits, dot, dash and underscore, at most 63")
    return f"dataset:{name}"


def declared_budget(options: Mapping[str, Any]) -> Guarantee | None:
    """The budget that the options declare, or None; delta 0 is not declared. Raises ConfigError for a delta alone."""
    epsilon, delta = options["budget_epsilon"], options["budget_delta"]
    if not epsilon and not delta:
        return None
    require_epsilon_delta(epsilon, delta, zero_delta=True)
    return Guarantee(epsilon, delta, Relation(options["budget_relation"]))


def guaranteed(outcome: Outcome, options: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest guarantees: nothing, of a release that no budget was charged for."""
    if not options.get("experiment"):
        return outcome.guarantee
    return {"kind": "none", "why": UNPAID, "if_it_were_charged": outcome.guarantee}


def account_details(account: Account) -> dict[str, Any]:
    """What a manifest says about the account after a release."""
    return {"spent": account.spent().as_dict(), "budget": account.allowed().as_dict()}
