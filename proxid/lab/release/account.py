"""What was spent of a log's budget: entries, their composition, and what the budget still allows (DESIGN 13).

Entries are kept as they were guaranteed, with neighbour relation and kind of delta, and converted to the budget's
relation before they are added (`Guarantee.under`). Releases about the same users add up (sequential composition);
releases about disjoint classes of users (`--part i/n`, by a hash of the user id) cost each user only the classes the
user is in: the total is the maximum over classes (parallel composition). It holds for both relations, since a user who
is replaced keeps the id and so the class.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from proxid.errors import BudgetError, ConfigError
from proxid.lab.release.guarantee import Guarantee, nothing_spent

MOST_PARTS: Final = 12
SLACK: Final = 1e-12
"""Relative slack of comparisons, for sums of decimal fractions."""

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Part:
    """A class of users: those whose hash modulo `parts` is `part`; 0 of 1 is everybody."""

    part: int = 0
    parts: int = 1

    @classmethod
    def parse(cls, text: str) -> "Part":
        """`i/n` with 0 <= i < n <= 12; empty is everybody. Raises ConfigError."""
        if not text:
            return cls()
        left, _, right = text.partition("/")
        if not (left.isdecimal() and right.isdecimal()) or not int(left) < int(right) <= MOST_PARTS:
            raise ConfigError(f"part is i/n with 0 <= i < n <= {MOST_PARTS}")
        return cls(int(left), int(right))


@dataclass(frozen=True, slots=True)
class Entry:
    """One release that was charged: when, by which mechanism, about which users, at which cost."""

    time: str
    mechanism: str
    part: Part
    cost: Guarantee


@dataclass(frozen=True, slots=True)
class Account:
    """One log's budget and entries.

    declared: false while the budget is just the first release's own cost. A delta of 0 that was declared says that only
    epsilon was: see `allowed`. name: of the file that was charged first, for people.
    """

    budget: Guarantee
    declared: bool
    entries: tuple[Entry, ...] = ()
    name: str = ""

    def spent(self) -> Guarantee:
        """The cost of all entries to the user who paid most, in the budget's relation."""
        relation = self.budget.relation
        modulus = math.lcm(*(entry.part.parts for entry in self.entries))
        worst = nothing_spent(relation)
        for residue in range(modulus):
            total = nothing_spent(relation)
            for entry in self.entries:
                if residue % entry.part.parts == entry.part.part:
                    total = total.and_then(entry.cost)
            worst = Guarantee(max(worst.epsilon, total.epsilon), max(worst.delta, total.delta), relation)
        return worst

    def allowed(self) -> Guarantee:
        """The budget; where epsilon alone was declared, with the delta of as many releases like the first with one."""
        if not self.declared or self.budget.delta:
            return self.budget
        costs = (entry.cost.under(self.budget.relation) for entry in self.entries)
        first = next((cost for cost in costs if cost.delta), None)
        delta = 0.0 if first is None else min(1.0, first.delta * max(1.0, self.budget.epsilon / first.epsilon))
        return replace(self.budget, delta=delta)

    def declaring(self, budget: Guarantee | None) -> "Account":
        """The account with a budget that is declared now. Raises BudgetError if another one was declared before."""
        if budget is None:
            return self
        if not self.declared:
            return replace(self, budget=budget, declared=True)
        same = replace(budget, delta=0.0) == replace(self.budget, delta=0.0)
        if not same or (self.budget.delta and budget.delta not in (0.0, self.budget.delta)):
            raise BudgetError("this log's budget is declared already; a budget is declared once")
        return replace(self, budget=replace(budget, delta=budget.delta or self.budget.delta))

    def charged(self, entry: Entry) -> "Account":
        """The account with one more entry. Raises BudgetError, which says what was spent on what, past the budget."""
        after = replace(self, entries=(*self.entries, entry))
        spent, allowed = after.spent(), after.allowed()
        for name, used, most in (("epsilon", spent.epsilon, allowed.epsilon), ("delta", spent.delta, allowed.delta)):
            if used > most * (1 + SLACK):
                before = ", ".join(e.mechanism for e in self.entries) or "nothing"
                hint = "" if self.declared else UNDECLARED
                raise BudgetError(
                    f"the release would exceed the log's budget: {name} {used:.6g} of {most:.6g} "
                    f"({allowed.relation.value} neighbours); charged before: {before}{hint}"
                )
        return after


UNDECLARED: Final = "; none was declared, so it is the first release's cost (--budget-epsilon, --budget-delta)"


def entry_now(mechanism: str, cost: Guarantee, part: Part, clock: Clock = lambda: datetime.now(UTC)) -> Entry:
    """An entry for a release that is about to be made."""
    return Entry(clock().isoformat(timespec="seconds"), mechanism, part, cost)
