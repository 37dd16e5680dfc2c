"""`proxid bench privacy`: figures are there, and each can fail on a form without the protection."""

import random

import pytest

from bench.privacy import owners
from bench.privacy.day import sessions
from bench.privacy.forms import MARGIN, K, asked, cohorts, owners_found, pairs, split
from bench.privacy.gateway import days_of, excess
from bench.privacy.table import line
from bench.privacy.utility import released

SMALL = {"rows": "9000", "users": "200"}


def test_forms_of_one_log_are_attacked_alike() -> None:
    log = asked(SMALL)
    found = {
        "pairs": owners_found(pairs(log, 1)), "cohort": owners_found(cohorts(log, 1)),
        "split": owners_found(split(log, 1)[1]),
    }  # fmt: skip
    assert found["pairs"]["right"]["value"] > found["split"]["right"]["value"] + 0.1
    assert found["split"]["right"]["value"] <= owners.REACH
    assert found["split"]["statements"]["counts_alone"]["made"] == 0
    assert found["split"]["statements"]["attack"]["made"] <= 0.01 * found["split"]["scored"]
    assert found["pairs"]["statements"]["attack"]["made"] > 0.05 * found["pairs"]["scored"]
    assert found["cohort"]["right"]["value"] == pytest.approx(1 / (K + 1 + MARGIN), abs=0.01)


def test_a_log_whose_categories_end_at_the_node_has_a_line() -> None:
    assert line("split", 4, 3, {}, 100).split("|")[1:4] == [" split ", " 4 ", " 3 "]


def test_a_weak_attack_fails_the_run() -> None:
    owners.require_strength(1, 0.6)
    owners.require_strength(4, 0.0)
    with pytest.raises(RuntimeError, match="too weak"):
        owners.require_strength(1, 0.54)
    with pytest.raises(RuntimeError, match="too weak"):
        owners.require_strength(2, 0.19)


def test_the_gateway_learns_from_ticks_of_few_nodes_and_not_from_the_librarys() -> None:
    right, biggest = excess(days_of(100, 4, seed=3))
    assert right - biggest < 0.05
    draw = random.Random(1)
    people = [(f"p{i}", f"n{i % 5}") for i in range(50)]
    # Each node at a tick of its own: a probe there tells everything.
    alone = [[(p, node) for p, node in people if node == f"n{j}"] + [(f"probe{j}", f"n{j}")] for j in range(5)] * 4
    assert excess(alone) == (1.0, pytest.approx(1.0))
    # Three nodes at a tick, drawn: presence alone tells a person's own node after a while.
    mixed = []
    for _ in range(200):
        nodes = draw.sample(range(5), 3)
        mixed.append([(p, n) for p, n in people if int(n[1:]) in nodes] + [(f"probe{j}", f"n{j}") for j in nodes])
    right, biggest = excess(mixed)
    assert right > biggest + 0.3


def test_rounds_let_more_leave() -> None:
    day = sessions(300, 3)
    for kind in ("location", "command"):
        assert released(day, kind, rounds=True) > released(day, kind, rounds=False) + 0.1
