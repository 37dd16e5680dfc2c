"""What a noisy release guarantees, and how guarantees convert and add (DESIGN 13; 003 Def. 2-4, Prop. 1; 004 Def. 1-2).

A guarantee is stated for a neighbour relation and for a kind of delta. 003 replaces one user's history by another;
004 and OpenDP add or remove one user. Numbers of different relations or kinds are never added before conversion.
"""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from proxid.errors import ConfigError

MOST_EPSILON: Final = 700.0
"""Above it e^epsilon is no number."""
MEANINGFUL_EPSILON: Final = 20.0
"""Over it a user is promised nothing: of two cases the true one is told but for 2 times in 10^9."""
LEAST_EPSILON: Final = 1e-9
LEAST_DELTA: Final = 1e-100
"""Below them the noise is larger than any sampler draws, and sums of guarantees are no longer exact."""


NO_GUARANTEE: Final = f"no guarantee: epsilon is over {MEANINGFUL_EPSILON:g} a user"


class Relation(StrEnum):
    """When two logs are neighbours: one user's history is replaced, or one user is added or removed."""

    REPLACE = "replace"
    ADD_REMOVE = "add-remove"


class DeltaKind(StrEnum):
    """approximate: Pr[A(S) in O] <= e^eps Pr[A(S') in O] + delta. probabilistic: pure but for outputs of mass delta."""

    APPROXIMATE = "approximate"
    PROBABILISTIC = "probabilistic"


def require_epsilon_delta(epsilon: float, delta: float, *, zero_delta: bool = False) -> None:
    """Raises ConfigError for an epsilon or delta that promise nothing; the rule says why."""
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ConfigError("epsilon is a finite number above 0: without one nothing is guaranteed")
    if epsilon < LEAST_EPSILON:
        raise ConfigError(f"epsilon is at least {LEAST_EPSILON:g}: noise for less cannot be drawn")
    if epsilon > MOST_EPSILON:
        raise ConfigError(f"epsilon is at most {MOST_EPSILON:g}, and promises nothing from {MEANINGFUL_EPSILON:g} on")
    if 0 < delta < LEAST_DELTA:
        raise ConfigError(f"delta is 0 or at least {LEAST_DELTA:g}")
    if not (0 <= delta < 1) or (delta == 0 and not zero_delta):
        raise ConfigError("delta is above 0 and below 1: at 1 every release is allowed, at 0 no threshold suffices")


@dataclass(frozen=True, slots=True)
class Guarantee:
    """User-level (epsilon, delta) under a neighbour relation."""

    epsilon: float
    delta: float
    relation: Relation
    delta_kind: DeltaKind = DeltaKind.APPROXIMATE

    def approximate(self) -> "Guarantee":
        """The same numbers as an approximate guarantee: probabilistic implies it (003 Prop. 1)."""
        return replace(self, delta_kind=DeltaKind.APPROXIMATE)

    def under(self, relation: Relation) -> "Guarantee":
        """The approximate guarantee under another relation.

        Replacing is removing and adding: (2 eps, delta (1 + e^eps)). Removing is replacing by an empty history, at no
        further cost, because the number of users is public and fixed.
        """
        held = self.approximate()
        if relation in (self.relation, Relation.ADD_REMOVE):
            return replace(held, relation=relation)
        grown = self.delta * (1 + math.exp(min(self.epsilon, 700.0)))
        return Guarantee(2 * self.epsilon, min(1.0, grown), Relation.REPLACE)

    def and_then(self, other: "Guarantee") -> "Guarantee":
        """Sequential composition: both are published about the same people; the sums hold."""
        there = other.under(self.relation)
        return Guarantee(self.epsilon + there.epsilon, min(1.0, self.delta + there.delta), self.relation)

    def as_dict(self) -> dict[str, Any]:
        """The guarantee as the manifest states it."""
        return {
            "kind": "differential privacy" if self.epsilon <= MEANINGFUL_EPSILON else NO_GUARANTEE,
            "unit": "user",
            "epsilon": self.epsilon,
            "delta": self.delta,
            "delta_kind": self.delta_kind.value,
            "relation": self.relation.value,
        }


def nothing_spent(relation: Relation) -> Guarantee:
    """The cost of publishing nothing."""
    return Guarantee(0.0, 0.0, relation)


def delta_warnings(guarantee: Guarantee, users: int) -> list[str]:
    """What the manifest must flag: a delta over 1/U allows publishing one user's records in full."""
    warnings = []
    if guarantee.epsilon > MEANINGFUL_EPSILON:
        warnings.append(NO_GUARANTEE)
    if guarantee.delta * users > 1:
        warnings.append(
            f"delta {guarantee.delta:.3g} is over 1/U = {1 / users:.3g}: one user's records in full would be allowed"
        )
    return warnings
