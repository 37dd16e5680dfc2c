"""Tables of 003 and 004 that state what parameters guarantee, reproduced (release_tables.json has the sources)."""

import json
from pathlib import Path
from typing import Any

import pytest

from proxid.lab.release.sessions.plan import session_sensitivity, two_step_plan
from proxid.lab.release.zealous.plan import (
    indistinguishable_delta,
    optimal_tau,
    probabilistic_delta,
    probabilistic_threshold,
    zealous_plan,
)

TABLES: dict[str, Any] = json.loads((Path(__file__).parent / "release_tables.json").read_text(encoding="utf-8"))
TABLE1, TABLE2, TABLE4 = TABLES["zealous_table1"], TABLES["zealous_table2"], TABLES["sessions_table4"]
USERS, M = 500_000, 5  # Table 1's setting


@pytest.mark.parametrize("row", TABLE1["rows"], ids=lambda r: f"lambda{r['lambda']}-tau{r['tau_prime']}")
def test_zealous_table_1_both_analyses(row: dict[str, float]) -> None:
    close = {"rel": TABLE1["relative_tolerance"]}
    delta = probabilistic_delta(M, row["lambda"], 1, row["tau_prime"], USERS)
    assert delta == pytest.approx(row["delta"], **close)
    assert indistinguishable_delta(M, row["lambda"], row["tau_prime"]) == pytest.approx(row["delta_prime"], **close)


def test_zealous_table_2_tau_prime_by_tau() -> None:
    epsilon, delta, users, m = TABLE2["epsilon"], TABLE2["delta"], TABLE2["U"], TABLE2["m"]
    found = [probabilistic_threshold(m, epsilon, delta, users, tau) for tau in TABLE2["tau"]]
    assert found == pytest.approx(TABLE2["tau_prime"], abs=5e-5)  # the table prints four decimals
    assert optimal_tau(m, epsilon, delta, users) == TABLE2["optimal_tau"]


def test_zealous_figure_4_threshold() -> None:
    """003 §8.1: epsilon = 5, m = 1 (delta = 0.001, U = 500,000) gives tau' of about 10, so k = 10 is comparable."""
    assert zealous_plan("probabilistic", 1, 5.0, 1e-3, USERS).tau_prime == pytest.approx(10, abs=1.5)


@pytest.mark.parametrize("row", TABLE4["rows"], ids=lambda r: "-".join(map(str, r[:4])))
def test_sessions_table_4(row: list[float]) -> None:
    b, k, l_s, l_q, epsilon, delta = row
    plan = two_step_plan(session_sensitivity(int(l_s), int(l_q)), b, k)
    assert plan.guarantee.epsilon == pytest.approx(epsilon, rel=TABLE4["relative_tolerance"])
    assert plan.guarantee.delta == pytest.approx(delta, rel=TABLE4["relative_tolerance"])


def test_seven_of_table_4s_nine_rows_exceed_one_over_aols_users() -> None:
    aol_users = 657_426
    rows = [two_step_plan(session_sensitivity(r[2], r[3]), r[0], r[1]).guarantee.delta for r in TABLE4["rows"]]
    assert sum(delta > 1 / aol_users for delta in rows) == 7
