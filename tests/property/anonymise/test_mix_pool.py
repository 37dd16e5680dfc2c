"""Invariants of the pool under any sequence of steps, and the batch feed's agreement with it (DESIGN 8.4-8.7)."""

from collections import Counter, defaultdict

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from proxid.anonymise.mix.cycle import CycleSource
from proxid.anonymise.mix.pairs import release_pairs
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Group, Outcome, Record, Rung, Step
from tests.support import pool_steps as draw

SEED = bytes(range(32))


class PoolMachine(RuleBasedStateMachine):
    """Keeps account of every record that was submitted."""

    @initialize(chosen=draw.settings)
    def start(self, chosen: Settings) -> None:
        self.chosen, self.pool, self.source = chosen, Pool(chosen), CycleSource(SEED)
        self.records: dict[bytes, Record] = {}
        self.fate: dict[bytes, str] = {}
        self.now, self.number = 0.0, 0
        self.gave, self.got = Counter(), Counter()
        self.order: dict[tuple, list[int]] = defaultdict(list)

    @rule(step=draw.submissions)
    def submit(self, step: tuple) -> None:
        self.now += draw.time_step(step)
        record = draw.make_record(len(self.records), step, self.now)
        result = self.pool.submit(record)
        if result.outcome is Outcome.DUPLICATE:
            assert record.id in self.fate
            return
        assert record.id not in self.fate
        self.records[record.id] = record
        self.fate[record.id] = "waiting" if result.outcome is Outcome.BUFFERED else result.outcome.value
        self.take(result.groups)

    @rule(step=draw.ticks)
    def tick(self, step: tuple) -> None:
        self.now += draw.time_step(step)
        result = self.pool.tick(self.now, step[2])
        for moved in result.raised:
            assert moved.target == moved.source[:-1] and self.fate[moved.record] == "waiting"
        self.give_up(result)
        self.take(result.groups)
        assert len(result.raised) + len(result.suppressed) <= step[2]

    @rule(step=draw.withdrawals)
    def withdraw(self, step: tuple) -> None:
        person = draw.person_name(step[1])
        for record in self.pool.withdraw(person, step[2]):
            assert self.fate[record] == "waiting"
            self.fate[record] = "withdrawn"
        left = [w for w in self.pool.waiting() if w.person == person]
        assert all(step[2] is not None and w.audience not in step[2] for w in left)

    def give_up(self, result: Step) -> None:
        for record, _ in result.suppressed:
            assert self.fate[record] == "waiting"
            self.fate[record] = "suppressed"

    def take(self, groups: tuple[Group, ...]) -> None:
        for group in groups:
            self.number += 1
            assert group.number == self.number
            members = [self.records[member.record] for member in group.members]
            assert len({member.person for member in members}) == len(members)
            seasoned = sum(member.seasoned for member in members)
            assert seasoned == self.chosen.n and len(members) - seasoned <= self.chosen.unseasoned_cap
            assert {member.audience for member in members} == {group.audience}
            assert all(member.path[: len(group.node)] == group.node for member in members)
            if group.raised:
                assert all(member.rung is Rung.NODE for member in group.members)
            for member in members:
                assert self.fate[member.id] == "waiting"
                self.fate[member.id] = "released"
            for pair in release_pairs(group, self.source, self.chosen):
                owner = self.records[pair.record].person
                assert owner != pair.person
                self.gave[group.node, owner] += 1
                self.got[group.node, pair.person] += 1

    @invariant()
    def every_record_has_one_fate(self) -> None:
        waiting = {w.record for w in self.pool.waiting()}
        assert waiting == {record for record, fate in self.fate.items() if fate == "waiting"}
        assert set(self.fate) == set(self.records)

    @invariant()
    def people_get_at_a_node_what_they_give(self) -> None:
        assert self.gave == self.got

    @invariant()
    def no_node_is_ripe_or_over_the_cap(self) -> None:
        there: dict[tuple, Counter] = defaultdict(Counter)
        for w in self.pool.waiting():
            there[w.audience, w.node][w.person] += 1
        for people in there.values():
            assert sum(int(p.removeprefix("px1")) < draw.SEASONED for p in people) < self.chosen.n
            assert self.chosen.person_cap is None or max(people.values()) <= self.chosen.person_cap

    def teardown(self) -> None:
        if hasattr(self, "pool"):
            result = self.pool.close(10_000)
            self.give_up(result)
            assert not result.more and "waiting" not in self.fate.values()


TestPoolMachine = PoolMachine.TestCase
TestPoolMachine.settings = settings(max_examples=60, stateful_step_count=60)
