"""What the differentially private methods of 000 share with the others: the seed policy and the budget ledger."""

from typing import Any, Final

from proxid.errors import ConfigError
from proxid.lab.release.account import Account
from proxid.lab.release.guarantee import MOST_EPSILON, Guarantee, Relation, require_epsilon_delta
from proxid.lab.release.purse import Costs, account_details
from proxid.lab.release.registry import Job

SEED_POLICY: Final = "randomness from the system's secure generator; no seed exists, none is taken"
OPERATOR_ONLY: Final = ["records_in", "suppressed", "bad_rows", "input digest"]


def require_no_seed(job: Job) -> None:
    """Raises ConfigError when a seed was given: a seed could be used to strip the noise.

    The truth file is another matter: it names the record that a released row stands for, and is the operator's secret.
    """
    if job.seed is not None:
        raise ConfigError("this method takes no seed: whoever knew it could strip the noise")


def cost_of(mechanism: str, epsilon: float) -> Costs:
    """A pure ε: one user's log replaced, or what the queries of the busiest user add up to, which may be any sum.

    Raises ConfigError for one that guarantees nothing.
    """
    require_epsilon_delta(min(epsilon, MOST_EPSILON), 0.0, zero_delta=True)
    return [(mechanism, Guarantee(epsilon, 0.0, Relation.REPLACE))]


def details(account: Account | None, **more: Any) -> dict[str, Any]:
    """The parts of a manifest that do not depend on the method."""
    result = {"seed_policy": SEED_POLICY, "for_the_operator_only": OPERATOR_ONLY, **more}
    if account is not None:
        result["ledger"] = account_details(account)
    return result
