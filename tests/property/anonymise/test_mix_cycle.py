"""The cycle of a group: what it is, that it is uniform, that nobody can draw another one (DESIGN 8.4, 8.4.1)."""

import hashlib
from collections import Counter
from itertools import permutations, product
from math import factorial, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.anonymise.mix import cycle as module
from proxid.anonymise.mix.cycle import CycleSource, group_cycle, numbers_from, seed_commitment, show_order, swap
from proxid.anonymise.mix.pairs import is_one_cycle
from proxid.errors import InputError

SEED = bytes(range(32))
seeds = st.binary(min_size=32, max_size=32)
groups = st.integers(0, 2**64 - 1)

PINNED_CYCLE = (5, 9, 8, 4, 2, 6, 3, 10, 7, 0, 11, 1)
PINNED_ORDER = (7, 4, 3, 1, 6, 9, 2, 11, 10, 0, 5, 8)
PINNED_COMMITMENT = "6df1a9c1fb2021805eda18a8df03971cdaa6ef54fbd484888c019601fbf41730"


def chi_square_bound(cells: int) -> float:
    """A value that a χ² statistic over equally likely cells exceeds with probability below e⁻¹⁶ ≈ 10⁻⁷.

    Laurent and Massart (2000), Lemma 1: P(χ²_d ≥ d + 2√(dx) + 2x) ≤ e⁻ˣ, here with x = 16. The statistic of a
    multinomial with hundreds of expected counts a cell is near enough to χ²_d. Seeds are fixed, so it never flickers.
    """
    d, x = cells - 1, 16.0
    return d + 2 * sqrt(d * x) + 2 * x


def chi_square(counts: Counter, cells: int) -> float:
    expected = sum(counts.values()) / cells
    assert len(counts) <= cells
    return sum((n - expected) ** 2 / expected for n in counts.values()) + (cells - len(counts)) * expected


def many_seeds(count: int) -> list[bytes]:
    return [hashlib.sha256(b"seed %d" % i).digest() for i in range(count)]


@given(seeds, groups, st.integers(2, 60))
def test_is_one_cycle_and_an_order(seed: bytes, group: int, n: int) -> None:
    assert is_one_cycle(group_cycle(seed, group, n), n)
    assert sorted(show_order(seed, group, n)) == list(range(n))


@given(seeds, groups, st.integers(2, 60))
def test_is_what_the_docstring_specifies(seed: bytes, group: int, n: int) -> None:
    """The specification once more, as plainly as possible."""
    label = b"proxid/v1/cycle"
    items = (label, seed, group.to_bytes(8, "big"))
    message = (3).to_bytes(4, "big") + b"".join(len(item).to_bytes(4, "big") + item for item in items)
    stream = hashlib.shake_256(message).digest(100_000)
    words = (int.from_bytes(stream[i : i + 4], "big") for i in range(0, len(stream), 4))

    def below(bound: int) -> int:
        while True:
            word = next(words)
            if word < 2**32 - 2**32 % bound:
                return word % bound

    cycle, order = list(range(n)), list(range(n))
    for i in range(1, n):
        j = below(i)
        cycle[i], cycle[j] = cycle[j], cycle[i]
    for i in range(1, n):
        j = below(i + 1)
        order[i], order[j] = order[j], order[i]
    assert CycleSource(seed).draw(group, n) == (cycle, order)


def test_pinned() -> None:
    """Other versions must draw the same cycles: they are evidence."""
    assert group_cycle(SEED, 1, 12) == PINNED_CYCLE
    assert show_order(SEED, 1, 12) == PINNED_ORDER
    assert seed_commitment(SEED, 20_000, "ms.example").hex() == PINNED_COMMITMENT


@pytest.mark.parametrize("n", range(2, 7))
def test_equally_likely_numbers_make_every_cycle_and_every_order_once(n: int) -> None:
    """Exactly uniform: the numbers below 1, …, n − 1 and the (n − 1)! cycles correspond one to one."""

    def all_of(bounds: range) -> Counter:
        found = Counter()
        for numbers in product(*map(range, bounds)):
            items = list(range(n))
            swap(items, list(numbers))
            found[tuple(items)] += 1
        return found

    cycles = all_of(range(1, n))
    assert set(cycles) == {p for p in permutations(range(n)) if is_one_cycle(p, n)}
    assert set(cycles.values()) == {1} and len(cycles) == factorial(n - 1)
    orders = all_of(range(2, n + 1))
    assert len(orders) == factorial(n) and set(orders.values()) == {1}


@pytest.mark.parametrize("bound", range(1, 12))
def test_skipping_words_makes_numbers_exactly_uniform(bound: int) -> None:
    span = 12 + bound  # so that some words are skipped for most bounds
    counts = Counter()
    for word in range(span):
        # a second word that is never skipped tells whether the first was
        (number,) = numbers_from(iter((word, 0)), [bound], span)
        if word < span - span % bound:
            counts[number] += 1
        else:
            assert number == 0
    assert set(counts.values()) == {span // bound} and len(counts) == bound


def test_the_fast_way_draws_what_the_slow_way_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = [CycleSource(SEED).draw(group, n) for group in range(50) for n in (2, 5, 12, 39, 40, 300)]
    monkeypatch.setattr(module, "_numbers_if_no_word_is_skipped", lambda output, n: None)
    assert [CycleSource(SEED).draw(group, n) for group in range(50) for n in (2, 5, 12, 39, 40, 300)] == fast


@pytest.mark.parametrize("n", [12, 39, 40, 300])
def test_the_fast_way_refuses_a_word_that_a_bound_may_skip(n: int) -> None:
    for at in (0, n - 2, 2 * n - 3):
        words = [0] * (2 * n - 2)
        for word, refused in ((2**32 - n, True), (2**32 - n - 1, False)):
            words[at] = word
            output = b"".join(word.to_bytes(4, "big") for word in words)
            assert (module._numbers_if_no_word_is_skipped(output, n) is None) is refused


@pytest.mark.parametrize("n", [4, 5, 6])
def test_cycles_of_many_seeds_are_uniform(n: int) -> None:
    cells = factorial(n - 1)
    counts = Counter(group_cycle(seed, 1, n) for seed in many_seeds(300 * cells if n < 6 else 150 * cells))
    assert chi_square(counts, cells) < chi_square_bound(cells)


def test_cycles_of_the_groups_of_one_seed_are_uniform() -> None:
    source = CycleSource(SEED)
    counts = Counter(tuple(source.draw(group, 5)[0]) for group in range(1, 12_001))
    assert chi_square(counts, 24) < chi_square_bound(24)


def test_cycle_and_order_are_independent() -> None:
    source, counts = CycleSource(SEED), Counter()
    for group in range(1, 144 * 200):
        cycle, order = source.draw(group, 4)
        counts[(*cycle, *order)] += 1
    assert chi_square(counts, 6 * 24) < chi_square_bound(6 * 24)


def test_a_biased_draw_fails_the_same_test() -> None:
    """The test has the power to see what it must: drawing twice and keeping the smaller cycle."""
    counts = Counter(min(group_cycle(seed, 1, 5), group_cycle(seed, 2, 5)) for seed in many_seeds(7_200))
    assert chi_square(counts, 24) > 10 * chi_square_bound(24)


def test_bad_arguments() -> None:
    with pytest.raises(InputError):
        CycleSource(SEED[:-1])
    with pytest.raises(InputError):
        seed_commitment(SEED + b"\0", 1, "ms")
    with pytest.raises(InputError):
        group_cycle(SEED, 1, 1)


def test_commitment_binds_service_epoch_and_seed() -> None:
    commitments = {
        seed_commitment(seed, epoch, ms) for seed in (SEED, bytes(32)) for epoch in (1, 2) for ms in ("a", "b")
    }
    assert len(commitments) == 8
