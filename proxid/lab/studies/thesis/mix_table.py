"""Mode mix cell by cell: verdicts on 1/(n-1), the informed adversary, what the profiles lost."""

from math import ceil
from statistics import NormalDist
from typing import Any, Final

from proxid.lab.intervals import ALPHA
from proxid.lab.studies.thesis.figures.beyond import theorem_tests
from proxid.lab.studies.thesis.plan import Cell
from proxid.lab.studies.thesis.results import Results, percent

EQUIVALENCE: Final = 0.1
"""What `equal` means: within so much of 1/(n-1), relatively."""
_CHANCE: Final = 2.0
"""Standard deviations by which a rate may miss the true one, when it is said how many records a test takes."""
COLUMNS: Final = {"k": "k", "level": "ℓ", "records": "records", "equal": "equal", "undecided": "undecided",
                  "different": "different", "z": "largest \\|z\\|", "needed": "needed", "over_outsider": "over bound",
                  "over_members": "with m members", "emd_n1": "EMD N1 %",
                  "emd_n1_unraised": "not moved up %"}  # fmt: skip


def mix_rows(results: Results) -> list[dict[str, Any]]:
    """A row a cell of mode mix. `needed`: guesses inside groups at which no test of the cell would be undecided."""
    tests = theorem_tests(results)
    rows = []
    for cell in results.cells:
        if cell.mode == "mix" and not cell.ladder:
            rows.append(_row(results, cell, [test for at, _, test in tests if at == cell]))
    return rows


def _row(results: Results, cell: Cell, tests: list[dict[str, Any]]) -> dict[str, Any]:
    undecided = [test for test in tests if test["verdict"] == "undecided"]
    attacks = results.cells[cell]["attacks"]
    over = {
        who: posterior.get("over_bound", 0) + posterior.get("group_faults", 0)
        for who, name in (("outsider", "informed"), ("members", f"informed+{cell.mechanism.margin}"))
        for posterior in [attacks[name].get("posterior", {})]
    }
    return {
        "k": cell.k,
        "level": cell.level,
        "records": results.get(cell, "attacks", "informed", "posterior", "records") or 0,
        **{verdict: sum(t["verdict"] == verdict for t in tests) for verdict in ("equal", "undecided", "different")},
        "z": max((abs(test["z"]) for test in tests), default=None),
        "needed": max((needed(test, results.plan.tests) for test in undecided), default=None),
        "over_outsider": over["outsider"],
        "over_members": over["members"],
        "emd_n1": percent(results.get(cell, "metrics", "emd", "loss_n1")),
        "emd_n1_unraised": percent(results.get(cell, "metrics", "emd", "unraised", "loss_n1")),
    }


def needed(test: dict[str, Any], tests: int) -> int:
    """Records that make a test's interval, and two standard deviations of chance beside it, fit into 10 %.

    The interval's half width is a multiple of the standard deviation, which falls with the root of the records.
    """
    width = NormalDist().inv_cdf(1 - ALPHA / tests / 2)
    factor: float = test["bound"] / (EQUIVALENCE * test["expected"]) * (width + _CHANCE) / width
    return ceil(float(test["records"]) * factor**2)
