"""Figures of the laboratory against numbers that nothing of it computed (lab_figures.json says from where they are)."""

import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from statistics import fmean, variance
from typing import Any

import numpy as np
import pytest

from proxid.lab.attacks.registry import Options, run_attacks
from proxid.lab.logs import Dictionaries
from proxid.lab.mechanism import Mechanism
from proxid.lab.released_log import Release, make_release
from proxid.lab.utility.registry import evaluate
from tests.support.lab_stream import log, released, stream

VECTOR: dict[str, Any] = json.loads((Path(__file__).parent / "lab_figures.json").read_text(encoding="utf-8"))


def small_release() -> Release:
    """The vector's log, published record by record in its order."""
    people = sorted({user for user, _ in VECTOR["log"]})
    rows = [(people.index(user), i, path) for i, (user, path) in enumerate(VECTOR["log"])]
    dictionaries = Dictionaries()
    original = log(rows, dictionaries)
    origin = np.arange(len(rows))
    out = original.take(origin)
    fields = {name: getattr(out, name) for name in out.__slots__}
    fields["user"] = np.array([people.index(user) for user in VECTOR["published"]], np.int32)
    mechanism = Mechanism(mode="thesis", k=2, level=1)
    return make_release(original, type(out)(**fields), dictionaries.tree, mechanism, no_text=0, origin=origin)


def test_the_vector_is_what_algorithm_4_may_publish() -> None:
    """Restriction 4.1, and the same profile at the level at which records waited."""
    owned = Counter((user, path.split("/")[0]) for user, path in VECTOR["log"])
    published = Counter(
        (user, path.split("/")[0]) for user, (_, path) in zip(VECTOR["published"], VECTOR["log"], strict=True)
    )
    assert owned == published
    assert all(user != owner for user, (owner, _) in zip(VECTOR["published"], VECTOR["log"], strict=True))


def test_earth_movers_distance() -> None:
    found = evaluate(small_release(), ["emd"])["emd"]
    emd, paired = VECTOR["emd"], VECTOR["paired"]
    assert found["tree_diameter"] == VECTOR["diameter"]["edges"]
    assert found["mean_distance_edges"] * found["users"] == pytest.approx(sum(emd["edges"].values()))
    assert found["loss_n1"] == pytest.approx(float(Fraction(emd["loss_n1"])), abs=1e-12)
    assert found["loss_n2"] == pytest.approx(float(Fraction(emd["loss_n2"])), abs=1e-12)
    assert found["paired_loss_n1"] == pytest.approx(float(Fraction(paired["loss_n1"])), abs=1e-12)
    assert found["paired_loss_n1"] * 6 * 12 == pytest.approx(paired["edges"])


@pytest.mark.parametrize("level", [1, 2, 3])
def test_what_remains_and_diverges_by_level(level: int) -> None:
    found = evaluate(small_release(), ["srp", "jsd"])
    assert found["srp"][f"level_{level}"] == pytest.approx(
        float(Fraction(VECTOR["srp"]["levels"][level - 1])), abs=1e-12
    )
    assert found["jsd"][f"level_{level}"] == pytest.approx(VECTOR["jsd"]["levels"][level - 1], abs=1e-12)


def test_corollary_1_holds_for_pairs_of_queries() -> None:
    """003's example: the domain of pairs of three-keyword queries is larger than the one at which nothing helps."""
    row = VECTOR["corollary_1"]
    very = row["very_frequent"]
    needed = row["users"] * row["m"] / very * (math.exp(row["epsilon"] * very) / row["c"] + 1)
    domain = float(row["words"]) ** row["keywords_of_a_pair"]
    assert needed == pytest.approx(row["needed"], rel=0.01)
    assert domain == pytest.approx(row["domain"], rel=0.01)
    assert needed < domain


@pytest.mark.parametrize(("microseconds", "a_second", "threads"), VECTOR["speeds"]["rows"])
def test_speeds_as_printed(microseconds: float, a_second: int, threads: int | None) -> None:
    """The thesis cuts records a second and rounds threads; the studies draw its marks by these."""
    assert int(1e6 / microseconds) == a_second
    if threads is not None:
        assert round(40_000 / a_second) == threads


class Buffers:
    """Algorithms 4 and 5 as 002 prints them, with lists, and nothing of the product's."""

    def __init__(self, k: int, random: Random) -> None:
        self.k, self.random = k, random
        self.users: dict[str, list[int]] = {}
        self.queries: dict[str, list[tuple[int, int]]] = {}
        self.records: Counter[tuple[str, int]] = Counter()

    def feed(self, row: int, user: int, node: str, linkage: int = 0) -> list[tuple[int, int]]:
        """(row, user) that leave; `linkage` 0 draws the user as Algorithm 4 and record linkage 1 do, 2 and 3 choose."""
        users, queries = self.users.setdefault(node, []), self.queries.setdefault(node, [])
        users.append(user)
        queries.append((row, user))
        self.records[node, user] += 1
        out = []
        while len(set(users)) > self.k:
            chosen, own = queries.pop(self.random.randrange(len(queries)))
            taken = self._user(node, own, linkage)
            users.remove(taken)
            out.append((chosen, taken))
        return out

    def _user(self, node: str, own: int, linkage: int) -> int:
        others = [user for user in self.users[node] if user != own]
        if linkage < 2:
            return self.random.choice(others)
        arity = Counter(others)
        score = {u: n * (self.records[node, u] if linkage == 3 else 1) for u, n in arity.items()}
        best = max(score.values())
        return self.random.choice([u for u, value in sorted(score.items()) if value == best])


def plain_share(records: list[tuple[int, int, str]], level: int, linkage: int, seed: int) -> float:
    """Share of all records whose owner the plain linkage names after the plain anonymiser."""
    random = Random(seed)
    first, second = Buffers(3, random), Buffers(3, random)
    node = ["/".join(path.split("/")[:level]) for _, _, path in records]
    right = 0
    for row, (user, _, _) in enumerate(records):
        for gone, published in first.feed(row, user, node[row]):
            for linked, guess in second.feed(gone, published, node[gone], linkage):
                right += records[linked][0] == guess
    return right / len(records)


@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize("linkage", [1, 2, 3])
def test_record_linkage_finds_as_much_as_the_plain_algorithms(linkage: int, level: int) -> None:
    """Means of some runs each: shares of 1,000 records; four standard errors of their difference, p < 1e-4."""
    records, runs, name = stream(1000, 30, 3), 16, f"rl{linkage}"
    plain = [plain_share(records, level, linkage, seed) for seed in range(runs)]
    ours = []
    for seed in range(runs):
        release = released(records, Mechanism(mode="thesis", k=3, level=level), seed=seed)
        found = run_attacks(release, [name], Options(seed=seed))[name]
        ours.append(found["same_record"]["of_input"]["value"])
    error = math.sqrt((variance(plain) + variance(ours)) / runs)
    assert abs(fmean(plain) - fmean(ours)) < 4 * error
    assert fmean(plain) > 0.03, "a linkage that finds nobody would agree with anything"
