"""What the modes claim against what attacks find, with derived bounds (DESIGN 8.3, 8.4).

For mode mix a hit count is a sum over groups of variables whose mean and largest variance the theorem gives, whatever
the attacker does (`cycle_variance`), each within its mean of 0 … n. By Bernstein's inequality for martingales
(Freedman 1975) the count is off by t or more with probability at most 2·exp(-t²/(2(V + n·t/3))). The tests allow
1e-6 each, split over all cells and attackers they look at.
"""

from math import log, sqrt

import numpy as np
import pytest

from proxid.lab.attacks.informed import posteriors
from proxid.lab.attacks.owners import guess_owners
from proxid.lab.attacks.registry import Options, run_attacks
from proxid.lab.attacks.scoring import clusters, judge
from proxid.lab.intervals import cycle_variance
from proxid.lab.logs import LogBatch
from proxid.lab.logs.synth import synth_log
from proxid.lab.mechanism import Mechanism
from proxid.lab.released_log import Release, make_release
from proxid.lab.studies.thesis.cell import release_cell
from proxid.lab.studies.thesis.plan import Cell
from proxid.lab.utility.emd import profile_distance

COVERED = ("rl1", "rl2", "rl3", "deanon1", "deanon2", "deanon3", "deanon4", "neighbour",
           "group-random", "group-next", "group-busiest")  # fmt: skip
CHANCE = 1e-6


def release(mode: str, k: int, level: int, rows: int, *, ladder: bool = False) -> Release:
    batch, dictionaries = synth_log(rows, rows * 65 // 1000, 5)
    return release_cell(batch, dictionaries, Cell(mode, k, level, ladder), seed=11)[0]


def allowed(variance: float, largest: float, tests: int) -> float:
    """The t with 2·exp(-t²/(2(V + c·t/3))) = CHANCE / tests."""
    a = log(2 * tests / CHANCE)
    c = largest / 3
    return a * c + sqrt((a * c) ** 2 + 2 * a * variance)


def check_rate_is_one_in_n_minus_one(found: Release, names: tuple[str, ...], tests: int) -> None:
    n = found.mechanism.k + 1 + found.mechanism.margin
    for name in names:
        guesses = guess_owners(name, found, Options(seed=3))
        hits = judge(found, guesses)
        inside = hits.inside
        counts = np.bincount(clusters(found)[guesses.row[inside]])
        variance = float(cycle_variance(np.full(len(counts), n), counts).sum())
        off = abs(int(hits.same[inside].sum()) - counts.sum() / (n - 1))
        assert off <= allowed(variance, n, tests), name
        rest = int(hits.same[~inside].sum())
        assert rest == 0, name  # an owner is always a member


@pytest.mark.parametrize(("k", "level"), [(3, 1), (10, 2)])
def test_mix_gives_no_attacker_more_or_less_than_one_in_k_plus_m(k: int, level: int) -> None:
    check_rate_is_one_in_n_minus_one(release("mix", k, level, 30_000), COVERED, tests=2 * len(COVERED))


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 10, 30, 90, 200])
@pytest.mark.parametrize("level", [1, 2, 4, 6, 13])
def test_mix_at_every_cell(k: int, level: int) -> None:
    check_rate_is_one_in_n_minus_one(release("mix", k, level, 200_000), COVERED, tests=25 * len(COVERED))


@pytest.mark.parametrize("members", [0, 1])
def test_informed_posterior_in_mix_is_over_its_bound_for_no_record(members: int) -> None:
    """Outsiders 1/(k+m), m members of the group 1/k, for every single record; and the guesses come true as often."""
    found = release("mix", 10, 2, 30_000)
    guess, top = posteriors(found, members, seed=4)
    attacked = guess >= 0
    assert attacked.sum() == len(guess) * (12 - members) / 12
    assert np.abs(top[attacked] - 1 / (11 - members)).max() < 1e-12
    # Hits of one group are at most 12; their variance is under that of as many fair guesses, times 2 for dependence.
    count = attacked.sum()
    off = abs((guess == found.owner)[attacked].sum() - count / (11 - members))
    assert off <= allowed(2 * count / (11 - members), 12, tests=2)


def test_the_thesis_modes_exceed_one_in_k() -> None:
    """Neighbour and informed are over 1/k by more than sampling: the clustered interval at 1 - 1e-6 lies above 1/k."""
    for mode in ("thesis", "thesis3"):
        found = run_attacks(release(mode, 10, 2, 40_000), ("neighbour", "informed"))
        for name, report in found.items():
            low, high = report["same_record"]["of_attacked"]["ci95"]
            wide = (high - low) / 2 * 4.9 / 1.96
            assert report["same_record"]["of_attacked"]["value"] - wide > 0.1, (mode, name)
        assert found["informed"]["posterior"]["over_bound_share"] > 0.9


def test_posteriors_are_calibrated() -> None:
    """The mean posterior is the expected rate of right guesses; each guess is a coin of its own probability.

    Guesses are independent given the states, so the sum of hits has variance Σ p(1-p); 6 deviations are 1e-9.
    """
    for mode in ("thesis", "thesis3"):
        found = release(mode, 5, 1, 30_000)
        guess, top = posteriors(found, 0, seed=4)
        spread = sqrt(float((top * (1 - top)).sum()))
        assert abs((guess == found.owner).sum() - top.sum()) < 6 * spread


def test_content_tells_more_than_arrivals_and_the_ladder_less() -> None:
    """Outside the theorem: people keep to categories below the node, and to texts. The ladder ends the latter."""
    plain, ladder = (release("mix", 5, 1, 30_000, ladder=on) for on in (False, True))
    rates = [run_attacks(found, ("disclosure-text", "disclosure-category")) for found in (plain, ladder)]
    text, category = (
        [found[name]["same_record"]["of_attacked"]["value"] for found in rates]
        for name in ("disclosure-text", "disclosure-category")
    )
    assert text[0] > 1.5 / 6
    assert category[0] > 1.5 / 6
    assert text[1] < text[0]
    assert not rates[0]["disclosure-text"]["covered_by_theorem"]


def test_neighbour_figures_of_the_design() -> None:
    """DESIGN 8.3 on this generator: the neighbour attack beats record linkage 3, informed beats both (k=10, ℓ=2)."""
    found = run_attacks(release("thesis", 10, 2, 40_000), ("rl3", "neighbour", "informed"))
    rl3, neighbour, informed = (
        found[name]["same_record"]["of_attacked"]["value"] for name in ("rl3", "neighbour", "informed")
    )
    assert rl3 < neighbour < informed


def test_loss_is_the_shape_of_figure_4_11() -> None:
    """Over a third at ℓ = 1, falling with ℓ, under 5 % at 6, none at full depth (002: 42.03 %, under 1 %)."""
    losses = [profile_distance(release("thesis", 3, level, 30_000))["loss_n1"] for level in (1, 2, 4, 6, 13)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > 0.3
    assert losses[3] < 0.05
    assert losses[4] == 0


def test_true_profile_pairs_grow_with_the_level() -> None:
    """DESIGN 8.4.2: what a deep ℓ gives away is what people are interested in."""
    shares = []
    for level in (1, 4, 13):
        found = release("thesis", 3, level, 30_000)
        own = set(zip(found.original.user.tolist(), found.original.category.tolist(), strict=True))
        seen = zip(found.released.user.tolist(), found.released.category.tolist(), strict=True)
        shares.append(np.mean([pair in own for pair in seen]))
    assert shares[0] < 0.2 < shares[1] < shares[2] == 1


def test_mechanism_bounds() -> None:
    assert Mechanism("mix", 10, 2, 1).bound == 1 / 11
    assert Mechanism("mix", 10, 2, 1).bound_with(1) == 1 / 10
    assert Mechanism("thesis", 10, 2).bound == 1 / 10


def test_an_unshuffled_cycle_is_found() -> None:
    """Groups shown in the order of their cycle: the next member is always the owner, and the test says `different`."""
    found = release("mix", 5, 1, 10_000)
    columns = {name: getattr(found.released, name) for name in found.released.__slots__}
    user, owner, group = found.released.user.copy(), found.owner, found.released.group
    for number in np.unique(group):
        rows = np.flatnonzero(group == number)
        member = owner[rows]
        user[rows] = np.roll(member, 1)  # record i belongs to the member published in record i + 1
    broken = make_release(
        found.original,
        LogBatch(**columns | {"user": user}),
        found.tree,
        found.mechanism,
        no_text=0,
        origin=found.origin,
    )
    report = run_attacks(broken, ("group-next", "informed"))
    assert report["group-next"]["groups"]["test"]["verdict"] == "different"
    assert report["group-next"]["same_record"]["of_attacked"]["value"] == 1
    assert report["informed"]["posterior"]["group_faults"] == 0
