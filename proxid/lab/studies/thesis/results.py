"""What a finished study knows: cells by parameters, lines through them, what is set beside the thesis's numbers."""

from dataclasses import dataclass
from typing import Any

from scipy import stats

from proxid.lab.studies.thesis.plan import Cell, Plan, by_cell

Line = list[float | None]
RECORD_LINKAGE = ("rl1", "rl2", "rl3")
DEANONYMISERS = ("deanon1", "deanon2", "deanon3", "deanon4")


@dataclass(frozen=True, slots=True)
class Results:
    """Every cell of a plan."""

    plan: Plan
    cells: dict[Cell, dict[str, Any]]

    @classmethod
    def of(cls, plan: Plan, found: list[dict[str, Any]]) -> "Results":
        """From the runner's list."""
        plain = [{name: value for name, value in result.items() if name != "fingerprint"} for result in found]
        return cls(plan, by_cell(plain))

    @property
    def records(self) -> int:
        """Records of the log that was studied."""
        return max((int(result["metrics"]["share"]["records_in"]) for result in self.cells.values()), default=0)

    def get(self, cell: Cell, *path: str) -> Any:
        """A value of a cell, or None where it has none."""
        value: Any = self.cells.get(cell)
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def over_k(self, mode: str, level: int, *path: str) -> Line:
        """A value at every k of the plan."""
        return [self.get(Cell(mode, k, level), *path) for k in self.plan.ks]

    def over_level(self, mode: str, k: int, *path: str) -> Line:
        """A value at every ℓ of the plan."""
        return [self.get(Cell(mode, k, level), *path) for level in self.plan.levels]

    def rate(self, cell: Cell, attack: str, what: str = "same_record", of: str = "of_attacked") -> float | None:
        """A linkage rate: `same_record` or `pair_linkage`, `of_attacked` or `of_input`."""
        value: float | None = self.get(cell, "attacks", attack, what, of, "value")
        return value

    def rates_over_k(self, mode: str, level: int, attack: str, what: str, of: str) -> Line:
        """The same at every k, in per cent."""
        return [percent(self.rate(Cell(mode, k, level), attack, what, of)) for k in self.plan.ks]

    def kolmogorov_smirnov(self, attack: str, mode: str = "thesis") -> dict[str, Any] | None:
        """The thesis's test (002 §4.4.3) of a set of rates against the set of 1/k: a point a cell on each side.

        For the reproduction of figure 4.7, not as evidence: it asks whether the *set* of rates looks like the *set* of
        values 1/k, says nothing about any single k, and accepts rates that are over 1/k at every one.
        """
        pairs = [
            (rate, 1 / cell.k)
            for cell in self.cells
            if cell.mode == mode and not cell.ladder and (rate := self.rate(cell, attack, "pair_linkage", "of_input"))
        ]
        if not pairs:
            return None
        rates, theory = (list(side) for side in zip(*pairs, strict=True))
        test = stats.ks_2samp(rates, theory, method="exact")
        over = sum(rate > bound for rate, bound in pairs)
        return {
            "distance": float(test.statistic),
            "p_value": float(test.pvalue),
            "points": len(pairs),
            "over_1_k": over,
            "rates": sorted(rates),
            "theory": sorted(theory),
        }


def percent(value: float | None) -> float | None:
    """A share as per cent."""
    return None if value is None else 100 * value
