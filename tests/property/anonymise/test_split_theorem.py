"""The theorems of form `split` by enumeration of all deals: the posterior of an owner is exactly 1/(P − c).

A world is who issued which content. Whoever sees a release weighs all worlds that would have shown the same; members
who pool what they know (c of them) drop those in which their own contents are others'. The same enumeration catches
forms that look alike and leak.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import pytest

from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.pool import SplitPool
from proxid.anonymise.split.rounds import add_up, deal, show
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.ticks import may_leave
from proxid.anonymise.split.types import Close, SplitRecord

NODE = ("shopping",)
DRAWS = Draws(bytes(range(32)))

World = tuple[str, ...]
"""Content of each entry; entry i is of person `owners[i]`."""


def settings(people: int, threshold: int = 3) -> SplitSettings:
    """Rounds of `people`, and a ladder of `threshold`."""
    return SplitSettings(k=people - 1, margin=0, min_text_users=threshold, bucket_s=3600, epoch_s=7200)


def posteriors(
    worlds: Collection[World], owners: Sequence[int], see: Callable[[World], Any], colluding: Collection[int] = ()
) -> set[Fraction]:
    """Every posterior, of anybody outside `colluding`, to be the owner of one record with a given content.

    A record of content t is drawn from what others issued. All worlds are equally likely a priori.
    """
    alike: dict[Any, list[World]] = defaultdict(list)
    for world in worlds:
        known = tuple(content for content, owner in zip(world, owners, strict=True) if owner in colluding)
        alike[see(world), known].append(world)
    found = set()
    others = set(owners) - set(colluding)
    for same in alike.values():
        for content in set(same[0]):
            of = {u: sum(w[i] == content for w in same for i, o in enumerate(owners) if o == u) for u in others}
            total = sum(of.values())
            found |= {Fraction(count, total) for count in of.values() if total}
    return found


def deals(contents: str) -> set[World]:
    return set(permutations(contents))


def content(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Category and texts of a content: one letter is a subject and a text of its own."""
    return (*NODE, name), (f"buy {name}", name)


def rows_of(world: World, people: int) -> Any:
    return add_up([show([content(name) for name in world], 1, settings(people))])


ONE_ROUND = [
    (len(contents), contents, c)
    for contents in ("aab", "aaab", "aabb", "aaabb", "aaabbc", "aaaaab", "abcdef")
    for c in (0, 1, 2)
    if len(contents) - c > 1
]


@pytest.mark.parametrize(("people", "contents", "c"), ONE_ROUND)
def test_one_round(people: int, contents: str, c: int) -> None:
    """Whoever colludes, everybody else is as likely to own a record as everybody else."""
    for colluding in combinations(range(people), c):
        found = posteriors(deals(contents), range(people), lambda w: rows_of(w, people), colluding)
        assert found == {Fraction(1, people - c)}


# -- the whole pool: entries and contents of several parties, rounds, audiences, withdrawals


def rounds_at(close: Close) -> tuple[int, ...]:
    return next(rounds.sizes for rounds in close.contents.nodes if rounds.node == NODE)


class House:
    """People at one node in some audiences, others elsewhere so that ticks may leave; what each party receives."""

    def __init__(self, people: int, rounds: int, audiences: Sequence[str] = ("general|p,q",)) -> None:
        self.people, self.audiences = people, audiences
        self.settings = settings(people)
        self.entries = [(a, u, j) for a in audiences for j in range(rounds) for u in range(people)]
        self.owners = [u for _, u, _ in self.entries]

    def identity(self, audience: str, person: int, at: int) -> bytes:
        return f"{audience}/{person}/{at}".encode()

    def order(self, audience: str, person: int) -> list[bytes]:
        """A person's records, in the order of rounds."""
        rounds = len(self.entries) // self.people // len(self.audiences)
        return sorted((self.identity(audience, person, j) for j in range(rounds)), key=DRAWS.place)

    def pool(self, world: World) -> SplitPool:
        """Entry (audience, person, j) is the person's record in round j, whatever came first."""
        pool = SplitPool(self.settings, DRAWS)
        for (audience, person, j), name in zip(self.entries, world, strict=True):
            path, texts = content(name)
            pool.submit(SplitRecord(self.order(audience, person)[j], f"u{person}", audience, path, texts))
        for audience, node, person in product(self.audiences, ("news", "sports", "health"), range(self.people)):
            for i in range(3):
                path = (node, f"{node} {i}")
                pool.submit(SplitRecord(f"{audience}{node}{person}{i}".encode(), f"v{person}", audience, path, ()))
        return pool

    def worlds(self, contents: Sequence[str]) -> Iterator[World]:
        """All deals of each round's contents."""
        for dealt in product(*(deals(one) for one in contents)):
            yield tuple(name for one in dealt for name in one)

    def see(self, pool: SplitPool) -> Any:
        """What all parties together receive: entries in order of their ids, and contents."""
        entries, shown = [], []
        for gone in pool.tick(1).values():
            entries += [(DRAWS.entry(x.record.id), x.record.person, x.node) for x in gone]
        for audience, close in pool.close():
            entries += [(DRAWS.entry(x.record.id), x.record.person, x.node) for x in close.leaving]
            shown.append((audience, close.contents.rows, close.contents.withheld))
        return tuple(sorted(entries)), tuple(shown)


@pytest.mark.parametrize("c", [0, 1])
def test_two_rounds(c: int) -> None:
    """Both rounds together, and two parties who pool their feeds, know no more than one round."""
    house = House(3, 2)
    for colluding in combinations(range(3), c):
        worlds = list(house.worlds(["aab", "abc"]))
        seen = {world: house.see(house.pool(world)) for world in worlds}
        assert posteriors(worlds, house.owners, seen.__getitem__, colluding) == {Fraction(1, 3 - c)}
    (_, close), = house.pool(worlds[0]).close()  # fmt: skip
    assert rounds_at(close) == (3, 3)


def test_two_audiences() -> None:
    """The same people in two audiences: whoever is a party in both sees both, and every owner stays one of P."""
    house = House(3, 1, ("general|p", "general|p,q"))
    worlds = list(house.worlds(["aab", "abc"]))
    seen = {world: house.see(house.pool(world)) for world in worlds}
    for colluding in ((), (0,), (2,)):
        assert posteriors(worlds, house.owners, seen.__getitem__, colluding) == {Fraction(1, 3 - len(colluding))}


def test_withdrawn_before_the_close() -> None:
    """Whoever took back before the close stands in no round, even if the entry has left; the others are recounted."""
    house = House(4, 1)
    house.settings = settings(3)
    worlds = list(house.worlds(["aabb"]))

    def see(world: World) -> Any:
        pool = house.pool(world)
        gone = pool.tick(1)
        pool.withdraw("u0")
        (_, close), = pool.close()  # fmt: skip
        assert rounds_at(close) == (3,)
        return len(gone["general|p,q"]), close.contents.rows

    found = posteriors(worlds, house.owners, see, (0,))  # u0's own content is known: nothing of it is among the rows
    assert found == {Fraction(1, 3)}


@pytest.mark.parametrize("got", [(), ("p",), ("p", "q")])
def test_withdrawn_after_the_close(got: tuple[str, ...]) -> None:
    """A message goes to a party whole or not at all, and never again in another form: who got it knows no more."""
    house = House(4, 1)
    worlds = list(house.worlds(["aabb"]))

    def see(world: World) -> Any:
        entries, shown = house.see(house.pool(world))
        return entries, tuple((party, shown) for party in got)

    assert posteriors(worlds, house.owners, see) == {Fraction(1, 4)}


# -- forms that leak are caught by the same enumeration


def ladder_over_entries(owners: Sequence[int], threshold: int) -> Callable[[World], Any]:
    """All entries in one batch; a content is shown if enough distinct people issued it."""

    def see(world: World) -> Any:
        issuers = defaultdict(set)
        for name, owner in zip(world, owners, strict=True):
            issuers[name].add(owner)
        return tuple(sorted(name for name, people in issuers.items() if len(people) >= threshold))

    return see


def of_hidden(owners: Sequence[int], contents: str, threshold: int) -> Fraction:
    """The greatest posterior of an owner of a record whose content was hidden."""
    see = ladder_over_entries(owners, threshold)
    alike: dict[Any, list[World]] = defaultdict(list)
    for dealt in permutations(range(len(contents))):  # every arrangement of the single records
        world = tuple(contents[i] for i in dealt)
        alike[see(world)].append(world)
    best = Fraction(0)
    for shown, same in alike.items():
        for name in set(contents) - set(shown):
            held = Counter(owner for world in same for owner, x in zip(owners, world, strict=True) if x == name)
            best = max(best, Fraction(max(held.values()), sum(held.values())))
    return best


@pytest.mark.parametrize(
    ("entries", "contents", "posterior"),
    [((2, 1, 1, 2), "aaabbb", Fraction(1, 2)), ((2, 2, 1, 1, 2), "aaabbbcc", Fraction(25, 81))],
)
def test_a_ladder_over_the_epoch_is_caught(entries: tuple[int, ...], contents: str, posterior: Fraction) -> None:
    """Nobody has more than a third, or a quarter, of the entries; what was hidden gives more away."""
    owners = [person for person, count in enumerate(entries) for _ in range(count)]
    assert of_hidden(owners, contents, 3) == posterior > Fraction(max(entries), len(owners))


def test_an_order_of_arrival_is_caught() -> None:
    found = posteriors(deals("aabb"), range(4), lambda world: world)
    assert max(found) > Fraction(1, 4)


def test_one_batch_a_node_is_caught() -> None:
    """With one person at 40 of 52 records; in rounds that person has one record in each that is formed."""
    owners = [0] * 40 + list(range(1, 13))
    assert Fraction(owners.count(0), len(owners)) == Fraction(40, 52) > Fraction(1, 12)
    records = [SplitRecord(bytes([i]), f"u{owner}", "a", NODE, ()) for i, owner in enumerate(owners)]
    rounds, withheld = deal(records, settings(12), DRAWS)
    assert [len(one) for one in rounds] == [13]
    assert len(withheld) == 39
    assert {record.person for record in withheld} == {"u0"}


def test_a_batch_that_is_formed_again_is_caught() -> None:
    """One party got the round as it was, another one without who withdrew: the difference is that person's."""

    def see(world: World) -> Any:
        return rows_of(world, 5), rows_of(world[1:], 5)

    assert max(posteriors(deals("aaaabc"), range(6), see)) == Fraction(1, 2) > Fraction(1, 6)


def test_a_tick_of_one_node_is_caught() -> None:
    """The gateway sees that there were entries, and knows from its own that the node is in the tick."""
    assert not may_leave([12])
    assert not may_leave([12, 12])
    assert not may_leave([25, 12, 12])
    assert may_leave([24, 12, 12])


def test_a_path_without_a_ladder_is_caught() -> None:
    """A word that one person asked for is no part of any row, while one that three asked for is."""
    said = [(("travel", "city", "orlando"), ())] + [(("travel", "city", "paris"), ())] * 3 + [(("travel",), ())] * 8
    rows = add_up([show(said, 1, settings(12))])
    assert {row.path for row in rows} == {("travel",), ("travel", "city"), ("travel", "city", "paris")}
    for row in rows:
        if len(row.path) > 1:
            assert sum(path[: len(row.path)] == row.path for path, _ in said) >= 3
