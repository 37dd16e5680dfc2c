"""What the differentially private methods of 000 share with the others: the seed policy and the budget ledger."""

from pathlib import Path
from typing import Any, Final

from proxid.anonymise.release.guarantee import Guarantee, Relation
from proxid.anonymise.release.ledger import Account, Ledger, Part, default_ledger, entry_now
from proxid.anonymise.release.noisy import LEDGER_OPTIONS, declared_budget
from proxid.anonymise.release.registry import Job
from proxid.anonymise.release.source import digest_of
from proxid.errors import ConfigError

BUDGET_OPTIONS: Final = tuple(option for option in LEDGER_OPTIONS if option.key != "part")
SEED_POLICY: Final = "randomness from the system's secure generator; no seed exists, none is taken"
OPERATOR_ONLY: Final = ["records_in", "suppressed", "bad_rows", "input digest"]


def require_no_seed(job: Job) -> None:
    """Raises ConfigError when a seed was given: a seed could be used to strip the noise.

    The truth file is another matter: it names the record that a released row stands for, and is the operator's secret.
    """
    if job.seed is not None:
        raise ConfigError("this method takes no seed: whoever knew it could strip the noise")


def charge_epsilon(job: Job, mechanism: str, epsilon: float) -> Account:
    """Take a pure ε (one user's log replaced) from the input's budget. Raises BudgetError, ConfigError, InputError."""
    cost = Guarantee(epsilon, 0.0, Relation.REPLACE)
    path = Path(job.options["ledger"]) if job.options["ledger"] else default_ledger()
    return Ledger(path).charge(digest_of(job.source), entry_now(mechanism, cost, Part()), declared_budget(job.options))


def details(account: Account | None, **more: Any) -> dict[str, Any]:
    """The parts of a manifest that do not depend on the method."""
    result = {"seed_policy": SEED_POLICY, "for_the_operator_only": OPERATOR_ONLY, **more}
    if account is not None:
        result["ledger"] = {"spent": account.spent().as_dict(), "budget": account.budget.as_dict()}
    return result
