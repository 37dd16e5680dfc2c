"""Profiles learnt from a release: exact permanents against all permutations, and what the attack finds and cannot."""

from itertools import permutations

import numpy as np
import pytest

from proxid.lab.attacks.em.blocks import Blocks, blocks_of, groups_of
from proxid.lab.attacks.em.chains import Chains, chains_of
from proxid.lab.attacks.em.learn import Known, Learner
from proxid.lab.attacks.em.score import score
from proxid.lab.attacks.registry import Options, load_attack
from proxid.lab.logs import CategoryTree
from proxid.lab.mechanism import Mechanism
from tests.support import lab_stream

NOTHING = Chains(np.array([[0, -1]] * 9, np.int64), 1)


def _expected(blocks: Blocks, fit: np.ndarray) -> np.ndarray:
    """Over all ways to give the records of the one block to its people."""
    slots = np.repeat(np.arange(len(blocks.content)), blocks.count)
    people = len(blocks.person)
    total, whole = np.zeros((len(blocks.content), people)), 0.0
    for way in permutations(range(people)):
        if any(way[i] == blocks.barred[slot] for i, slot in enumerate(slots)):
            continue
        weight = np.exp(sum(fit[slot * people + person] for slot, person in zip(slots, way, strict=True)))
        whole += weight
        for slot, person in zip(slots, way, strict=True):
            total[slot, person] += weight
    return (total / whole).reshape(-1)


@pytest.mark.parametrize("contents", [[0, 1, 2, 3, 4], [0, 0, 1, 1, 1], [0, 0, 0, 0, 2]])
def test_small_blocks_are_exact(contents: list[int]) -> None:
    blocks = blocks_of(np.zeros(5, np.int64), np.arange(5, dtype=np.int32), np.array(contents))
    learner = Learner(blocks, NOTHING)
    fit = np.random.default_rng(1).normal(size=len(learner.post))
    learner._expect(fit)
    assert learner.post == pytest.approx(_expected(blocks, fit))


def test_who_a_record_is_published_under_is_never_its_owner() -> None:
    group, published = np.zeros(5, np.int32), np.array([3, 1, 4, 0, 2], np.int32)
    blocks, rows = groups_of(group, published, np.array([1, 3, 0, 2, 4], np.int32))
    learner = Learner(blocks, NOTHING)
    fit = np.random.default_rng(2).normal(size=len(learner.post))
    learner._expect(fit)
    assert rows.tolist() == [0, 1, 2, 3, 4]
    assert learner.post.reshape(5, 5).diagonal() == pytest.approx(0)
    assert learner.post == pytest.approx(_expected(blocks, fit))
    assert blocks.owned.reshape(5, 5).sum(axis=1).tolist() == [1] * 5


def test_large_blocks_add_up() -> None:
    owner = np.arange(40, dtype=np.int32)
    blocks = blocks_of(np.zeros(40, np.int64), owner, owner.astype(np.int64) % 7)
    learner = Learner(blocks, NOTHING)
    learner._expect(np.random.default_rng(3).normal(size=len(learner.post)))
    table = learner.post.reshape(7, 40)
    assert table.sum(axis=0) == pytest.approx(np.ones(40), abs=1e-3)
    assert table.sum(axis=1) == pytest.approx(blocks.count)
    assert blocks.owned.reshape(7, 40).sum(axis=1).tolist() == blocks.count.tolist()


def _rounds(lasting: bool) -> tuple[Blocks, Chains, np.ndarray]:
    """60 rounds of 20 people out of 40, each asking one of 10 things, the own one of four in five times or any."""
    random, tree = np.random.default_rng(5), CategoryTree()
    nodes = np.array([tree.add(f"A/{i}") for i in range(10)], np.int32)
    owner = np.concatenate([np.sort(random.permutation(40)[:20]) for _ in range(60)]).astype(np.int32)
    own = lasting & (random.random(len(owner)) < 0.8)
    said = np.where(own, owner % 10, random.integers(0, 10, len(owner)))
    blocks = blocks_of(np.repeat(np.arange(60), 20), owner, said)
    return blocks, chains_of(tree, nodes, np.full(10, -1, np.int32), 1), said


def test_lasting_interests_are_learnt_and_chance_is_not_beaten() -> None:
    for lasting in (True, False):
        blocks, chains, _ = _rounds(lasting)
        learner = Learner(blocks, chains)
        report = score(blocks, learner.even(), learner.learn(), chains.below[blocks.content])
        assert report["chance"] == pytest.approx(1 / 20)
        assert report["scored"] == report["records"] == 1200
        low, high = report["right"]["ci95"]
        assert low > 0.12 if lasting else low < 0.05 < high


def test_what_is_known_beforehand_helps_and_what_says_nothing_is_not_scored() -> None:
    blocks, chains, _ = _rounds(True)
    person = np.repeat(np.arange(40, dtype=np.int32), 5)
    code = chains.codes[:, 1][person % 10]
    known = Known(np.concatenate([person, person]), np.concatenate([code, chains.codes[:, 0][person % 10]]))
    alone = Learner(blocks, chains)
    knowing = Learner(blocks, chains, known)
    even = alone.even()
    shown = chains.below[blocks.content]
    rates = [score(blocks, even, learner.learn(), shown)["right"]["value"] for learner in (alone, knowing)]
    assert rates[1] > rates[0] + 0.02
    assert (
        score(blocks, even, alone.post, shown & (blocks.content == 3))["scored"]
        == blocks.count[blocks.content == 3].sum()
    )


def test_chains_go_from_the_node_to_the_text() -> None:
    tree = CategoryTree(["A/b/c", "A"])
    a, b, c = (tree.add(path) for path in ("A", "A/b", "A/b/c"))
    chains = chains_of(tree, np.array([c, b, a, c, c], np.int32), np.array([-1, -1, 7, 7, 7], np.int32), 1)
    assert chains.codes[:3].tolist() == [[a, b, c, -1], [a, b, -1, -1], [a, len(tree), -1, -1]]
    assert chains.codes[3].tolist() == chains.codes[4].tolist() == [a, b, c, len(tree) + 1]
    assert chains.below.tolist() == [True, True, True, True, True]
    raised = chains_of(tree, np.array([a, c], np.int32), np.full(2, -1, np.int32), 2)
    assert raised.codes.tolist() == [[a, -1, -1], [b, c, -1]] or raised.codes.tolist() == [[a, -1], [b, c]]
    assert raised.below.tolist() == [False, True]


@pytest.mark.slow
def test_it_names_owners_in_groups_as_no_theorem_forbids() -> None:
    records = lab_stream.stream(12_000, 120, 4)
    release = lab_stream.released(records, Mechanism(k=4, level=1, margin=1))
    report = load_attack("em")("em", release, Options())
    assert report["claim"] == 1 / 5
    assert report["right"]["ci95"][0] > report["claim"] + 0.05
    assert report["over_half"]["right"] > 0.6
    knowing = load_attack("em")("em", release, Options(known=10))
    assert knowing["right"]["value"] > report["right"]["value"]
    without = lab_stream.released(records, Mechanism(mode="thesis", k=4, level=1))
    assert load_attack("em")("em", without, Options()) == {"reason": "the release has no groups"}
