"""The budget ledger: composition, conversion, refusal, damage, crash, two releases at once (DESIGN 13)."""

import json
import math
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.errors import BudgetError, ConfigError, InputError
from proxid.lab.release.account import Account, Entry, Part
from proxid.lab.release.guarantee import DeltaKind, Guarantee, Relation, delta_warnings
from proxid.lab.release.ledger import Ledger

REPLACE, ADD = Relation.REPLACE, Relation.ADD_REMOVE
GUARANTEES = st.builds(
    Guarantee, st.floats(0.01, 5), st.floats(0, 1e-3), st.sampled_from(Relation), st.sampled_from(DeltaKind)
)


def entry(epsilon: float, delta: float = 1e-6, relation: Relation = REPLACE, part: Part | None = None) -> Entry:
    return Entry("2026-01-01T00:00:00+00:00", "test", part or Part(), Guarantee(epsilon, delta, relation))


def test_add_remove_costs_twice_epsilon_and_delta_times_one_plus_e_epsilon_under_replace() -> None:
    assert Guarantee(0.5, 1e-6, ADD).under(REPLACE) == Guarantee(1.0, 1e-6 * (1 + math.exp(0.5)), REPLACE)


def test_replace_holds_for_add_remove_as_it_is_and_probabilistic_counts_as_approximate() -> None:
    held = Guarantee(1.0, 1e-6, REPLACE, DeltaKind.PROBABILISTIC)
    assert held.under(ADD) == Guarantee(1.0, 1e-6, ADD, DeltaKind.APPROXIMATE)
    assert held.under(REPLACE).delta_kind == DeltaKind.APPROXIMATE


@given(a=GUARANTEES, b=GUARANTEES)
def test_composition_never_lowers_a_cost_and_does_not_depend_on_order(a: Guarantee, b: Guarantee) -> None:
    for relation in Relation:
        both = a.under(relation).and_then(b)
        assert both.relation == relation
        assert both.epsilon >= max(a.under(relation).epsilon, b.under(relation).epsilon)
        assert both.delta >= max(a.under(relation).delta, b.under(relation).delta)
        other = b.under(relation).and_then(a)
        assert (both.epsilon, both.delta) == pytest.approx((other.epsilon, other.delta))


@given(
    entries=st.lists(st.tuples(st.floats(0.01, 2), st.sampled_from([(0, 1), (0, 2), (1, 2), (2, 3), (0, 4), (1, 4)])))
)
def test_parallel_composition_is_the_cost_to_the_user_who_pays_most(
    entries: list[tuple[float, tuple[int, int]]],
) -> None:
    account = Account(Guarantee(1, 0, REPLACE), True, tuple(entry(e, 0.0, part=Part(*p)) for e, p in entries))
    each_user = [sum(e for e, (i, n) in entries if user % n == i) for user in range(12)]
    assert account.spent().epsilon == pytest.approx(max(each_user))


def test_the_declared_budget_is_the_limit(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.json")
    budget = Guarantee(1.0, 1e-5, REPLACE)
    ledger.charge("d", entry(0.6), budget)
    with pytest.raises(BudgetError, match="epsilon"):
        ledger.charge("d", entry(0.6))
    with pytest.raises(BudgetError, match="delta"):
        ledger.charge("d", entry(0.1, 1e-4))
    assert ledger.charge("d", entry(0.4)).spent().epsilon == pytest.approx(1.0)
    ledger.charge("another input", entry(0.6), budget)


def test_costs_are_converted_before_they_are_added(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.json")
    ledger.charge("d", entry(0.5), Guarantee(1.5, 1e-5, REPLACE))
    assert ledger.charge("d", entry(0.5, relation=ADD)).spent().epsilon == pytest.approx(1.5)
    with pytest.raises(BudgetError):
        ledger.charge("d", entry(0.01, relation=ADD))


def test_without_a_declaration_the_first_release_is_the_budget(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.json")
    ledger.charge("d", entry(1.0))
    with pytest.raises(BudgetError, match="none was declared"):
        ledger.charge("d", entry(0.1))
    ledger.charge("d", entry(0.1), Guarantee(2.0, 1e-5, REPLACE))


def test_a_budget_is_declared_once(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.json")
    ledger.charge("d", entry(0.1), Guarantee(1.0, 1e-5, REPLACE))
    ledger.charge("d", entry(0.1), Guarantee(1.0, 1e-5, REPLACE))
    with pytest.raises(BudgetError, match="declared once"):
        ledger.charge("d", entry(0.1), Guarantee(9.0, 1e-5, REPLACE))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 3, "inputs": {}}', "[" * 100_000, '{"version": 1, "inputs": {"d": {}}}']
)
def test_a_damaged_ledger_stops_releases(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(text)
    with pytest.raises(InputError):
        Ledger(path).charge("d", entry(0.1))
    assert path.read_text() == text


@pytest.mark.parametrize("text", ["1", "2/2", "-1/2", "0/13", "a/b", "0/0"])
def test_parts_that_are_no_class_are_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        Part.parse(text)


def charge_many(path: Path, times: int, accepted: "multiprocessing.Queue[int]") -> None:
    done = 0
    for _ in range(times):
        try:
            Ledger(path).charge("d", entry(0.1))
            done += 1
        except BudgetError:
            pass
    accepted.put(done)


def test_processes_never_spend_the_last_of_a_budget_twice(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    Ledger(path).charge("d", entry(0.1), Guarantee(1.0, 1e-3, REPLACE))
    context = multiprocessing.get_context("spawn")
    accepted = context.Queue()
    workers = [context.Process(target=charge_many, args=(path, 6, accepted)) for _ in range(3)]
    for worker in workers:
        worker.start()
    total = sum(accepted.get(timeout=60) for _ in workers)
    for worker in workers:
        worker.join()
    assert total == 9
    account = Ledger(path).account("d")
    assert account is not None
    assert len(account.entries) == 10


def test_a_crash_while_writing_leaves_the_old_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    Ledger(path).charge("d", entry(0.5), Guarantee(1.0, 1e-3, REPLACE))
    before = path.read_bytes()
    program = (
        "import os, pathlib, sys\n"
        "pathlib.Path.replace = lambda self, target: os._exit(9)\n"
        "from tests.unit.lab.release.test_ledger import entry\n"
        "from proxid.lab.release.ledger import Ledger\n"
        "Ledger(pathlib.Path(sys.argv[1])).charge('d', entry(0.2))\n"
    )
    root = Path(__file__).parents[4]
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, cwd=root, env=os.environ | {"PYTHONPATH": str(root)}, check=False)
    assert done.returncode == 9
    assert path.read_bytes() == before
    assert Ledger(path).charge("d", entry(0.5)).spent().epsilon == pytest.approx(1.0)


def test_the_ledger_is_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "ledger.json"
    Ledger(path).charge("d", entry(0.5))
    assert path.stat().st_mode & 0o077 == 0
    assert json.loads(path.read_text())["version"] == 2


def test_a_delta_over_one_in_u_is_flagged() -> None:
    assert delta_warnings(Guarantee(1, 1e-3, REPLACE), 657_426)
    assert not delta_warnings(Guarantee(1, 1e-7, REPLACE), 657_426)
