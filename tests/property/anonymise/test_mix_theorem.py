"""The theorem of docs/anonymity.md by exact enumeration: the posterior is 1/(n − 1 − c), whatever c members know."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, factorial, sqrt
from random import Random

import pytest

from proxid.anonymise.mix.cycle import CycleSource
from proxid.anonymise.mix.pairs import check_restrictions, is_one_cycle, release_pairs
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Group, Member, Outcome, Record, Rung
from proxid.errors import RestrictionError


def cycles(n: int) -> list[tuple[int, ...]]:
    return [p for p in permutations(range(n)) if is_one_cycle(p, n)]


def derangements(n: int) -> list[tuple[int, ...]]:
    return [p for p in permutations(range(n)) if all(p[i] != i for i in range(n))]


def posteriors(n: int, draws: Sequence[tuple[int, ...]], colluding: Iterable[int]) -> set[Fraction]:
    """Every posterior that members who pool what they know can have about a record of somebody else.

    Texts are numbered by the position in which they are shown, after a uniformly random order. What is seen: the
    person published with each text. What colluding members know beside: which texts are their own. Possible worlds are
    all (owner of each text, draw), equally likely; worlds that look the same are told apart by nothing.
    """
    colluders = set(colluding)
    worlds: dict[tuple, list[tuple[int, ...]]] = defaultdict(list)
    for owners in permutations(range(n)):  # owners[text]
        for draw in draws:
            published = tuple(draw[owner] for owner in owners)
            known = tuple(owner if owner in colluders else None for owner in owners)
            worlds[published, known].append(owners)
    found = set()
    for (_, known), same in worlds.items():
        for text in range(n):
            if known[text] is None:
                for person in range(n):
                    found.add(Fraction(sum(owners[text] == person for owners in same), len(same)))
    return found


@pytest.mark.parametrize(("n", "c"), [(n, c) for n in range(2, 6) for c in range(n - 1)])
def test_posterior_of_outsiders_and_members(n: int, c: int) -> None:
    """Zero for who cannot have written it, and the same for everybody else."""
    for colluding in combinations(range(n), c):
        possible = posteriors(n, cycles(n), colluding)
        assert possible - {Fraction(0)} == {Fraction(1, n - 1 - c)}


def test_posterior_in_a_group_of_six() -> None:
    """n = 6 without the 6! permutations of texts: by symmetry text i may as well be the i-th member's."""
    n = 6
    for c in range(n - 1):
        colluding = set(range(c))
        worlds = defaultdict(list)
        # Fix what is published (text i under person i) and let the owners vary: owner = inverse draw.
        for draw in cycles(n):
            owners = tuple(draw.index(i) for i in range(n))
            worlds[tuple(o if o in colluding else None for o in owners)].append(owners)
        for known, same in worlds.items():
            for text in (t for t in range(n) if known[t] is None):
                shares = {Fraction(sum(o[text] == p for o in same), len(same)) for p in range(n)}
                assert shares - {Fraction(0)} == {Fraction(1, n - 1 - c)}


def test_derangement_fails() -> None:
    """A uniform derangement tells a member more than 1/k (DESIGN 8.4): 0.112 at n = 11, where k = 9."""
    for n in (4, 5):
        assert max(posteriors(n, derangements(n), [0])) == derangement_posterior(n) > Fraction(1, n - 2)
    assert round(float(derangement_posterior(11)), 3) == 0.112
    assert derangement_posterior(11) > Fraction(1, 9)


def derangement_posterior(n: int) -> Fraction:
    """The largest posterior of a member m whose text went to a, under a uniform derangement σ.

    With D derangements, σ(a) = m has probability (n − 1) D(n−2) / D(n). For a text published under b ∉ {m, a}, owner a
    has by symmetry (1 − that) / (n − 2); the other n − 3 candidates share the rest.
    """
    back = Fraction((n - 1) * count_derangements(n - 2), count_derangements(n))
    to_a = (1 - back) / (n - 2)
    return max(back, to_a, (1 - to_a) / (n - 3))


def count_derangements(n: int) -> int:
    return sum((-1) ** i * comb(n, i) * factorial(n - i) for i in range(n + 1))


K1 = Settings(k=1, margin=1, level=1, max_delay_records=None, max_delay_s=None, person_cap=None)


def groups_of(arrivals: Sequence[int], chosen: Settings, newcomers: set[int] = frozenset()) -> list[list[int]]:
    """Run the pool on people arriving at one node; each group as the arrivals of its records."""
    pool, groups = Pool(chosen), []
    for i, person in enumerate(arrivals):
        record = Record(b"%d" % i, f"p{person}", person not in newcomers, "a", ("node",), (), float(i))
        result = pool.submit(record)
        assert result.outcome is Outcome.BUFFERED
        groups += [[int(member.record) for member in group.members] for group in result.groups]
    return groups


def stream_posteriors(arrivals: Sequence[int], groups: list[list[int]], colluding: set[int]) -> set[Fraction]:
    """Every posterior over arrivals of a text that is released, knowing all arrivals and the colluders' own texts.

    All ways in which texts belong to arrivals are equally likely, and so are all cycles of each group. What is seen of
    a group is which text goes with which person; order carries nothing and is left out.
    """
    worlds = defaultdict(list)
    for texts in permutations(range(len(arrivals))):  # texts[arrival]
        known = tuple(texts[i] for i, person in enumerate(arrivals) if person in colluding)
        for draws in product(*(cycles(len(group)) for group in groups)):
            seen = tuple(
                frozenset((arrivals[group[draw[j]]], texts[group[j]]) for j in range(len(group)))
                for group, draw in zip(groups, draws, strict=True)
            )
            worlds[seen, known].append(texts)
    found = set()
    for (seen, known), same in worlds.items():
        released = {text for group in seen for _, text in group} - set(known)
        for text, arrival in product(released, range(len(arrivals))):
            found.add(Fraction(sum(texts[arrival] == text for texts in same), len(same)))
    return found - {Fraction(0)}


def arrival_orders(people: int, length: int) -> Iterable[tuple[int, ...]]:
    """Sequences of arrivals, up to names: new people are numbered in order."""
    for order in product(range(people), repeat=length):
        first = list(dict.fromkeys(order))
        if first == sorted(first) == list(range(len(first))):
            yield order


@pytest.mark.parametrize("length", [3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_posterior_does_not_depend_on_arrivals(length: int) -> None:
    """Every order in which up to four people arrive at a node where n = 3."""
    formed = []
    for order in arrival_orders(4, length):
        groups = groups_of(order, K1)
        formed.append(len(groups))
        if groups:
            assert stream_posteriors(order, groups, set()) == {Fraction(1, 2)}, order
    assert max(formed) == length // 3


def test_posterior_over_two_groups_of_the_same_people() -> None:
    order = (0, 1, 2, 1, 0, 2)
    groups = groups_of(order, K1)
    assert [len(group) for group in groups] == [3, 3]
    assert stream_posteriors(order, groups, set()) == {Fraction(1, 2)}


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 0, 1, 2, 3), (3, 3, 0, 1, 2), (0, 1, 0, 1, 2, 3)])
@pytest.mark.parametrize("colluder", range(4))
def test_posterior_of_a_member_does_not_depend_on_arrivals(order: tuple[int, ...], colluder: int) -> None:
    """n = 4, k = 2, m = 1: an outsider has 1/3, one member 1/2."""
    chosen = Settings(k=2, margin=1, level=1, max_delay_records=None, max_delay_s=None, person_cap=None)
    groups = groups_of(order, chosen)
    assert len(groups) == 1
    assert stream_posteriors(order, groups, set()) == {Fraction(1, 3)}
    assert stream_posteriors(order, groups, {colluder}) == {Fraction(1, 2)}


def test_unseasoned_members_may_all_collude() -> None:
    """However many Sybils without season join, m = 1 seasoned colluder beside them leaves 1/k."""
    order, sybils = (4, 0, 5, 1, 2), {4, 5}
    groups = groups_of(order, K1, newcomers=sybils)
    assert [len(group) for group in groups] == [5]
    assert stream_posteriors(order, groups, sybils) == {Fraction(1, 2)}
    assert stream_posteriors(order, groups, sybils | {0}) == {Fraction(1, 1)}  # k = 1


def test_busy_people_are_no_likelier_owners() -> None:
    """On a long stream in which activity is very uneven, guessing the busiest candidate is right once in n − 1.

    One guess a group, the pair shown first, so guesses are independent: a sum of G indicators of probability p strays
    from Gp by more than √(2·16·Gp(1 − p)) + 2·16/3 with probability below 2e⁻¹⁶ (Bernstein).
    """
    rng, chosen = Random(5), Settings(k=10, margin=1, level=1, person_cap=None)
    pool, source, sent = Pool(chosen), CycleSource(bytes(range(32))), Counter()
    weights = [1 / (i + 1) for i in range(60)]
    guesses = right = 0
    for i, person in enumerate(rng.choices(range(60), weights, k=60_000)):
        sent[person] += 1
        identity = b"%d of %d" % (i, person)
        result = pool.submit(Record(identity, f"p{person}", True, "a", (rng.choice("ab"),), (), 0.0))
        for group in (*result.groups, *pool.tick(0.0).groups):
            pairs = release_pairs(group, source, chosen)
            owner = int(pairs[0].record.split()[-1])
            candidates = [int(m.person[1:]) for m in group.members if m.person != pairs[0].person]
            guesses += 1
            right += max(candidates, key=sent.__getitem__) == owner
    p = 1 / (chosen.n - 1)
    assert guesses > 3_000
    assert abs(right - guesses * p) < sqrt(2 * 16 * guesses * p * (1 - p)) + 2 * 16 / 3


def make_group(people: Sequence[str], seasoned: int, raised: bool = False, rung: Rung = Rung.CATEGORY) -> Group:
    members = tuple(Member(b"%d" % i, person, i < seasoned, rung, None) for i, person in enumerate(people))
    return Group(1, "a", ("node",), raised, 0, members)


FOUR = Settings(k=2, margin=1)
PEOPLE = ("p0", "p1", "p2", "p3")
CYCLE = (1, 2, 3, 0)


def test_restrictions_hold_for_a_formed_group() -> None:
    group = make_group(PEOPLE, 4)
    check_restrictions(group, CYCLE, FOUR)
    pairs = release_pairs(group, CycleSource(bytes(32)), FOUR)
    assert sorted(pair.person for pair in pairs) == sorted(PEOPLE)
    assert all(PEOPLE[int(pair.record)] != pair.person for pair in pairs)


@pytest.mark.parametrize(
    ("group", "cycle"),
    [
        (make_group(PEOPLE, 4), (0, 2, 3, 1)),  # 4.1: a record under its issuer
        (make_group(PEOPLE, 4), (1, 0, 3, 2)),  # a derangement that is no cycle
        (make_group(PEOPLE, 4), (1, 1, 3, 0)),  # no permutation
        (make_group(PEOPLE, 4), (1, 2, 0)),
        (make_group(PEOPLE[:3], 3), (1, 2, 0)),  # 4.2: too few others
        (make_group(PEOPLE, 3), CYCLE),  # too few that are seasoned
        (make_group(("p0", "p1", "p2", "p0"), 4), CYCLE),  # one person twice
        (make_group(PEOPLE, 4, raised=True), CYCLE),  # a raised record, and a category shown
    ],
)
def test_what_breaks_a_restriction_is_withheld(group: Group, cycle: tuple[int, ...]) -> None:
    with pytest.raises(RestrictionError):
        check_restrictions(group, cycle, FOUR)


def test_a_biased_draw_is_seen_by_recomputation() -> None:
    """A service that draws twice and takes what suits it publishes pairs that the committed seed does not give.

    It goes unseen in a group only if both draws agree: with probability 1/10! at n = 11, so never in these 200.
    """
    chosen, seed, own = Settings(k=9, margin=1), bytes(32), CycleSource(b"\1" * 32)
    seen = 0
    for number in range(1, 201):
        group = make_group([f"p{i}" for i in range(11)], 11)
        group = Group(number, group.audience, group.node, group.raised, group.bucket, group.members)
        committed = release_pairs(group, CycleSource(seed), chosen)
        biased = min(committed, release_pairs(group, own, chosen))
        seen += biased != committed
    assert 60 < seen < 140  # each draw is the smaller one half of the time
