"""Who gets a place, who waits and who is refused: the policy, on a clock of the test's own."""

from collections.abc import Hashable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.runtime.transport.places import (
    CALM,
    FEWEST,
    FIRST,
    LONGEST,
    MEMORY,
    MOST,
    PUSHBACK,
    SLOW,
    WAITING,
    Places,
    Ticket,
)


@dataclass
class House:
    """A service of one processor behind places; steps of a millisecond. away: seconds that it waits for a disk, say."""

    rate: float
    away: float = 0.0
    places: Places = field(default_factory=Places)
    now: float = 0.0
    told: dict[Ticket, tuple[float, bool]] = field(default_factory=dict)
    line: list[Ticket] = field(default_factory=list)
    leaving: list[tuple[float, Ticket]] = field(default_factory=list)
    done: list[tuple[float, Ticket]] = field(default_factory=list)
    free: float = 0.0

    def come(self, peer: Hashable = "home", person: Hashable = 0) -> Ticket:
        ticket = Ticket(peer, person, self.now, lambda placed: self.tell(ticket, placed))
        self.places.enter(ticket)
        return ticket

    def tell(self, ticket: Ticket, placed: bool) -> None:
        assert ticket not in self.told, "told once"
        self.told[ticket] = (self.now, placed)
        if placed:
            self.line.append(ticket)

    def step(self) -> None:
        self.now += 0.001
        due = self.places.due(self.now)
        if due is not None and due <= 0:
            self.places.look(self.now)
        while self.line and self.free <= self.now:
            ticket = self.line.pop(0)
            begins = max(self.free, self.told[ticket][0])
            self.free = begins + 1 / self.rate
            self.leaving.append((self.free + self.away, ticket))
        while self.leaving and self.leaving[0][0] <= self.now + 1 / self.rate:
            self.done.append(self.leaving.pop(0))
            at, ticket = self.done[-1]
            self.places.leave(ticket, self.now, at - self.told[ticket][0])

    def served(self, begin: float, end: float, deadline: float = 4.0) -> float:
        return sum(begin <= at < end and at - t.since <= deadline for at, t in self.done) / (end - begin)

    def refused(self, begin: float = 0.0) -> list[float]:
        return [at - t.since for t, (at, placed) in self.told.items() if not placed and t.since >= begin]


def load(house: House, factor: float, seconds: float, peers: int = 16) -> None:
    begin, sent = house.now, 0
    while house.now < begin + seconds:
        while sent < (house.now - begin) * factor * house.rate:
            house.come(sent % peers, sent)
            sent += 1
        house.step()


@pytest.mark.parametrize("rate", [30.0, 200.0])
def test_three_times_too_much_leaves_what_is_answered_as_it_was_and_then_nothing_of_it_remains(rate: float) -> None:
    house = House(rate)
    load(house, 3, 12)
    assert all(house.served(second, second + 1) >= 0.8 * rate for second in range(5, 12))
    assert max(house.refused()) <= LONGEST + 0.002
    assert max(house.refused(3.0)) <= 0.002, "nobody waits while places are given to others"
    before = len(house.refused())
    load(house, 0.5, 4)
    settled = house.now
    load(house, 0.5, 4)
    assert not [t for t, (_, placed) in house.told.items() if not placed and t.since > settled]
    assert len(house.refused()) - before < rate, "what is in the queue when it ends, and no more"


def test_less_than_capacity_is_never_refused() -> None:
    house = House(100.0)
    load(house, 0.9, 10)
    assert not house.refused() and house.places.held <= FEWEST


def test_a_burst_waits_and_only_what_waits_too_long_is_told_to_come_back_when_there_is_room() -> None:
    house = House(100.0)
    for number in range(700):
        house.come(number % 8, number)
    assert 8 * 7 <= house.places.held <= FIRST and house.places.waiting == WAITING
    for _ in range(150):
        house.step()
    least, most = PUSHBACK
    assert len(house.refused()) > 600 and least < house.places.pushback(house.now) <= most


def test_while_too_much_waits_the_newest_go_first_and_soon_nobody_old_is_left() -> None:
    places, told = Places(most=1, fewest=1), list[tuple[str, bool]]()

    def come(name: str, at: float) -> Ticket:
        ticket = Ticket(name, 0, at, lambda placed: told.append((name, placed)))  # one household alone would wait on
        places.enter(ticket)
        return ticket

    first, _ = come("first", 0.0), come("old", 0.0)
    come("older", 0.01)
    assert told == [("first", True)]
    come("new", LONGEST - 0.01)
    assert places.due(LONGEST / 2) == pytest.approx(LONGEST / 2)
    places.look(LONGEST + 0.001)
    assert told[1:] == [("old", False)]
    come("newest", LONGEST + 0.002)
    assert told[2:] == [("newest", False)], "who comes now is refused at once"
    places.leave(first, LONGEST + 0.003)
    assert told[3:] == [("new", True)]


def test_a_peer_with_many_neither_takes_all_places_nor_goes_before_one_with_few() -> None:
    places, told = Places(most=80, fewest=8, first=80), list[str]()

    def come(peer: str, person: int) -> Ticket:
        ticket = Ticket(peer, person, 0.0, lambda placed: told.append(peer if placed else "refused"))
        places.enter(ticket)
        return ticket

    many = [come("many", 0) for _ in range(60)]
    assert told == ["many"] * 40
    assert [come(f"home {n}", 0) for n in range(40)] and told[40:] == [f"home {n}" for n in range(40)]
    come("late", 0)
    places.leave(many[0], 0.01)
    assert told[80:] == ["late"]


@pytest.mark.parametrize("limit", [32, 256])
def test_however_few_hold_the_places_somebody_new_finds_one(limit: int) -> None:
    places, told = Places(most=limit, fewest=8, first=limit), list[str]()
    for peer in ("one", "two", "three", "new"):
        for number in range(1 if peer == "new" else limit):
            places.enter(Ticket(peer, number % 3, 0.0, lambda placed, peer=peer: told.append(peer) if placed else None))
    assert told[-1] == "new" and max(told.count(peer) for peer in ("one", "two", "three")) == limit // 2


def test_of_one_peer_the_person_that_has_fewest_is_next() -> None:
    places, told = Places(most=8, fewest=4), list[str]()
    tickets = {}
    for name in ("ann", "ann", "ann", "ann", "ann", "ben"):
        ticket = Ticket("home", name, 0.0, lambda placed, name=name: told.append(name))  # type: ignore[misc]
        places.enter(ticket)
        tickets.setdefault(name, ticket)
    places.leave(tickets["ann"], 0.01)
    assert told == ["ann", "ann", "ann", "ann", "ben"]


def carry(places: Places, at: float, took: float, count: int) -> None:
    """So many at once, each of a household of its own."""
    held = [Ticket(number, number, at, lambda _: None) for number in range(count)]
    for ticket in held:
        places.enter(ticket)
    for ticket in held:
        places.leave(ticket, at + 0.5, took)


def test_places_become_fewer_by_what_takes_long_and_more_only_while_they_are_used() -> None:
    places = Places()
    for number in range(600):
        carry(places, number, 0.01, 1)
    assert places.limit == FIRST, "what was never carried may be too much"
    for number in range(600, 610):
        carry(places, number, 0.01, int(places.limit))
    assert places.limit == MOST, "what waits for somebody else takes no place from anybody"
    for number in range(1000, 1060):
        carry(places, number, 2 * SLOW if places.limit > FEWEST else CALM, 64)
    assert FEWEST <= places.limit <= 2 * FEWEST
    carry(places, 1100, 0.01, FEWEST)
    assert FEWEST < places.limit < FIRST / 2, "not at once what was too much before"


def test_who_has_less_time_than_an_answer_takes_is_not_taken_while_too_much_is_asked() -> None:
    places, told = Places(most=2, fewest=2), list[tuple[str, bool]]()

    def come(name: str, at: float, left: float) -> Ticket:
        ticket = Ticket(name, name, at, lambda placed: told.append((name, placed)), left)
        places.enter(ticket)
        return ticket

    for second in range(200):
        places.leave(come("usual", second, 0.1), second + 0.5, 0.5)
    assert told == [("usual", True)] * 200, "nobody is refused for it while there is room"
    held = [come(name, 300.0, 9.0) for name in ("first", "second")]
    late = come("late", 300.0, 9.0)
    places.look(300.0 + LONGEST)
    assert told[-1] == ("late", False) and not late.placed
    for number in range(100):
        places.leave(held.pop(0), 300.2, 0.5)
        held.append(come(f"next {number}", 300.2, 0.6))
    places.leave(held[0], 300.2, 0.5)
    come("hurried", 300.2, 0.3)
    assert told[-1] == ("hurried", False), "though there is a place"
    come("patient", 300.2, 0.6)
    assert told[-1] == ("patient", True)


def test_who_has_less_time_than_an_answer_takes_is_not_carried_in_vain_though_a_place_is_free() -> None:
    """Where most places are held, what its caller gives up before it ends takes the processor from everybody."""
    places, told = Places(most=16), list[tuple[str, bool]]()
    for second in range(60):
        carry(places, second, 0.6, 8)
    for number in range(8):
        places.enter(Ticket(number, 0, 60.0, lambda _: None))
    for name, left in (("hurried", 0.25), ("patient", 1.0)):
        places.enter(Ticket(name, 0, 60.1, lambda placed, name=name: told.append((name, placed)), left))
    assert told == [("hurried", False), ("patient", True)]


def test_too_much_at_once_is_cut_to_what_is_answered_in_time_and_not_by_one_slow_answer() -> None:
    house = House(45.0)
    load(house, 3, 6)
    assert CALM * 45 <= house.places.limit <= SLOW * 45
    assert all(house.served(second, second + 1) >= 0.95 * 45 for second in range(1, 6)), "also while it is cut"
    calm = Places()
    for number in range(20):
        carry(calm, number, CALM / 10, 32)
    before = calm.limit
    carry(calm, 20.0, CALM / 10, 31)
    carry(calm, 20.4, 4 * SLOW, 1)
    assert calm.limit >= before


def test_who_has_time_is_taken_however_long_requests_took_before() -> None:
    """As when a service stood still for a while, or is so slow that its fewest places take longer."""
    places, told = Places(most=8, fewest=8), list[bool]()
    for second in range(200):
        ticket = Ticket("home", 0, second, lambda _: None)
        places.enter(ticket)
        places.leave(ticket, second + 0.5, took=9.0)
    held = [Ticket(number, 0, 300.0, lambda _: None) for number in range(9)]
    for ticket in held:
        places.enter(ticket)
    places.look(300.0 + LONGEST)
    places.leave(held[0], 300.2, 9.0)
    places.enter(Ticket("patient", 0, 300.2, told.append, left=4.0))
    assert told == [True]


@pytest.mark.parametrize("away", [0.3, 0.6, 0.9, 1.2])
def test_what_takes_long_however_little_is_under_way_is_not_too_much(away: float) -> None:
    """As of a slow disk, or of services that are far from each other."""
    house = House(60.0, away)
    load(house, 2 / 3, 20)
    assert house.served(10, 20) >= 0.95 * 40
    load(house, 3, 15)
    assert house.served(25, 35) >= 0.7 * 60


def test_a_service_however_slow_carries_no_more_than_it_answers_in_time() -> None:
    house = House(8.0)
    load(house, 3, 12)
    assert house.served(6, 12) >= 0.8 * 8


def test_before_a_message_is_read_whoever_cannot_have_a_place_is_turned_away_and_nobody_else() -> None:
    places = Places(most=8, fewest=8)
    held = [Ticket("many", number, 0.0, lambda _: None) for number in range(4)]
    for ticket in held:
        places.enter(ticket)
    other = Ticket("other", 0, 0.0, lambda _: None)
    held += [Ticket(f"home {number}", 0, 0.0, lambda _: None) for number in range(3)]
    for ticket in (other, *held[4:]):
        places.enter(ticket)
    assert not places.turns_away("many", 0.0), "it may wait for a moment"
    places.enter(Ticket("many", 9, 0.0, lambda _: None))
    places.look(LONGEST)
    places.leave(other, LONGEST, None)
    assert places.turns_away("many", LONGEST) and not places.turns_away("few", LONGEST)
    assert places.pushback(LONGEST) > 1.5, "it is counted"
    for ticket in held[1:4]:
        places.leave(ticket, LONGEST, None)
    assert not places.turns_away("many", LONGEST)
    assert not places.turns_away("many", LONGEST + 2 * MEMORY)


STEPS = st.lists(
    st.tuples(st.sampled_from(["come", "leave", "go", "look"]), st.integers(0, 5), st.floats(0, 0.2)), max_size=80
)


@given(STEPS, st.integers(1, 5))
def test_whatever_happens_everybody_is_told_once_and_counts_come_out(
    steps: list[tuple[str, int, float]], most: int
) -> None:
    house = House(1.0, places=Places(most, 1))
    inside: list[Ticket] = []
    for what, which, passed in steps:
        house.now += passed
        if what == "come":
            inside.append(house.come(which % 3, which))
        elif what == "look":
            house.places.look(house.now)
        elif inside:
            # A caller may go while it waits, too.
            house.places.leave(inside.pop(which % len(inside)), house.now, passed * 5)
        placed = sum(t.placed for t in inside)
        waiting = [t for t in inside if t not in house.told]
        assert placed == house.places.held <= most and len(waiting) == house.places.waiting
        assert (house.places.due(house.now) is None) == (not waiting or house.places._is_alone())
    for ticket in inside:
        house.places.leave(ticket, house.now)
    assert (house.places.held, house.places.waiting, house.places.due(house.now)) == (0, 0, None)


def test_a_household_that_asks_alone_waits_however_few_places_a_slow_moment_has_left() -> None:
    house = House(40.0, places=Places(most=64, fewest=4, first=4))
    asked = [house.come(person=number) for number in range(32)]
    while house.now < 10:
        house.step()
        while len(house.done) > len(asked) - 32:
            assert not house.places.turns_away("home", house.now)
            asked.append(house.come(person=len(asked)))
    assert not house.refused() and house.served(1, 10) >= 0.9 * 40
    assert max(at - t.since for at, t in house.done) <= 1.5, "in turns"
    for number in range(40):
        house.come(person=number)
    house.come("other")
    for _ in range(200):
        house.step()
    assert house.refused(), "what is too much, or when another asks"


def test_while_places_are_free_nobody_is_refused_for_want_of_time() -> None:
    places, told = Places(), list[bool]()
    for second in range(60):
        carry(places, second, 9.0, 64)
    for number in range(8):
        places.enter(Ticket(number, 0, 60.5, lambda _: None))
    for number in range(300):
        places.enter(Ticket("more" + str(number), 0, 60.5, lambda _: None))
    places.look(60.5 + LONGEST)
    places.held, places._peers = 0, type(places._peers)()
    places.enter(Ticket("hurried", 0, 60.7, told.append, left=0.5))
    assert told == [True]


def test_how_long_requests_took_is_forgotten_while_none_is_answered() -> None:
    places, told = Places(most=2, fewest=2), list[bool]()
    for second in range(60):
        carry(places, second, 9.0, 2)
    held = [Ticket(number, 0, 70.0, lambda _: None) for number in range(3)]
    for ticket in held:
        places.enter(ticket)
    places.look(70.0 + 2 * LONGEST)
    places.leave(held[0], 70.2, None)
    places.enter(Ticket("hurried", 0, 70.2, told.append, left=0.5))
    assert told == [True]


def test_one_peer_over_its_own_share_says_nothing_of_the_others() -> None:
    places = Places(most=8, fewest=8)
    for number in range(4):
        places.enter(Ticket("many", number, 0.0, lambda _: None))
    places.enter(Ticket("other", 0, 0.0, lambda _: None))
    places._over = 0.0
    assert places.turns_away("many", MEMORY / 2) and not places.is_over(MEMORY + 0.01)


def test_what_nobody_knows_the_time_of_takes_no_places() -> None:
    places = Places()
    for second in range(10):
        ticket = Ticket("home", 0, second, lambda _: None)
        places.enter(ticket)
        places.leave(ticket, second + 0.5, None)
    assert places.limit == FIRST and places.held == 0


def test_a_household_that_asks_alone_has_the_places_again_that_it_had_before_a_slow_moment() -> None:
    """It has half of them at most: they are used when it holds so many."""
    house = House(100.0)
    carry(house.places, 0.0, 12.0, FIRST)
    assert house.places.limit == FEWEST
    house.now, again, refused, done = 10.0, [10.0] * 40, 0, 0
    while house.now < 18:
        for at in [at for at in again if at <= house.now]:
            again.remove(at)
            house.come(person=at)
        house.step()
        again += [house.now] * (len(house.done) - done)
        again += [house.now + PUSHBACK[0]] * (len(house.refused()) - refused)
        refused, done = len(house.refused()), len(house.done)
    assert not house.refused(17.0) and house.places.limit >= 80
