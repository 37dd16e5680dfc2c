"""The rules of the pool (DESIGN 8.4-8.7, 12): one class, run in memory and on every store."""

from collections.abc import Iterator
from itertools import count

import pytest

from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Group, Outcome, Raised, Reason, Record, Rung, Step, Suppressed
from proxid.errors import InputError, PoolClosedError
from tests.contract.conftest import MakeBackend
from tests.support.pools import Backend

K1 = Settings(k=1, margin=1, level=2, max_delay_records=None, max_delay_s=None, person_cap=None)
"""Groups of three; nothing moves up; no cap."""

MUSIC = ("Arts", "Music")
FILM = ("Arts", "Film")
T = [bytes([i]) * 16 for i in range(8)]


def with_settings(**changes: object) -> Settings:
    return Settings(**{**{f: getattr(K1, f) for f in K1.__dataclass_fields__}, **changes})


class Feeder:
    """Submits records that differ only in what a test is about; ids r0, r1, … in order."""

    def __init__(self, pool: Backend) -> None:
        self.pool = pool
        self._ids: Iterator[int] = count()

    def record(self, person: str, path: tuple[str, ...] = MUSIC, **changes: object) -> Record:
        defaults = Record(b"r%d" % next(self._ids), person, True, "general|shop", path, (), 0.0)
        return defaults._replace(**changes)

    def __call__(self, person: str, path: tuple[str, ...] = MUSIC, **changes: object) -> tuple[Group, ...]:
        """Submit a record that must be buffered."""
        submission = self.pool.submit(self.record(person, path, **changes))
        assert submission.outcome is Outcome.BUFFERED
        return submission.groups

    def outcome(self, person: str, path: tuple[str, ...] = MUSIC, **changes: object) -> Outcome:
        return self.pool.submit(self.record(person, path, **changes)).outcome


def records(group: Group) -> list[bytes]:
    return [member.record for member in group.members]


def rungs(group: Group) -> list[tuple[Rung, int | None]]:
    return [(member.rung, member.unit) for member in group.members]


class TestPool:
    """What every backend does."""

    def test_gate_counts_people_not_records(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(K1))
        for _ in range(5):
            assert not feed("ann")
        assert not feed("bob")
        (group,) = feed("cat")
        assert records(group) == [b"r0", b"r5", b"r6"]
        assert (group.number, group.audience, group.node, group.raised) == (1, "general|shop", MUSIC, False)
        assert [member.person for member in group.members] == ["ann", "bob", "cat"]
        assert [w.record for w in feed.pool.waiting()] == [b"r1", b"r2", b"r3", b"r4"]

    def test_each_gives_the_oldest_record_in_order_of_arrival(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(K1))
        for person in ("ann", "ann", "bob", "bob"):
            feed(person)
        assert records(feed("cat")[0]) == [b"r0", b"r2", b"r4"]
        assert records(feed("dan")[0]) == [b"r1", b"r3", b"r5"]

    def test_numbers_run_over_nodes_and_audiences_without_gaps(self, make_pool: MakeBackend) -> None:
        feed, numbers = Feeder(make_pool(K1)), []
        for path in (MUSIC, FILM, MUSIC):
            for audience in ("general|shop", "general|news"):
                for person in ("ann", "bob", "cat"):
                    numbers += [group.number for group in feed(person, path, audience=audience)]
        assert numbers == [1, 2, 3, 4, 5, 6]

    def test_audiences_and_nodes_do_not_mix(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(K1))
        assert not feed("ann") and not feed("bob")
        assert not feed("cat", audience="general|news")
        assert not feed("cat", FILM)
        assert not feed("cat", ("Arts",))
        assert not feed("cat", ())
        assert feed("cat", (*MUSIC, "Rock"))[0].node == MUSIC

    def test_level_zero_waits_at_the_root(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(level=0)))
        assert not feed("ann", MUSIC) and not feed("bob", FILM)
        assert feed("cat", ())[0].node == ()

    def test_unseasoned_join_but_do_not_count(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(K1))
        for i in range(5):
            assert not feed(f"new{i}", seasoned=False)
        feed("ann")
        feed("new4", seasoned=False)
        feed("bob")
        (group,) = feed("cat")
        assert records(group) == [b"r0", b"r1", b"r2", b"r5", b"r7", b"r8"]
        assert [member.seasoned for member in group.members] == [False] * 3 + [True] * 3
        assert [w.record for w in feed.pool.waiting()] == [b"r3", b"r4", b"r6"]

    def test_season_of_a_person_is_fixed_and_a_refused_record_leaves_nothing(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(K1))
        feed("ann")
        record = feed.record("ann", seasoned=False)
        with pytest.raises(InputError):
            feed.pool.submit(record)
        assert len(feed.pool.waiting()) == 1
        assert feed.pool.submit(record._replace(seasoned=True)).outcome is Outcome.BUFFERED

    def test_empty_component_is_refused(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(K1))
        with pytest.raises(InputError):
            feed("ann", ("Arts", ""))

    def test_same_record_twice_changes_nothing(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(K1))
        record = feed.record("ann", units=(T[0],))
        assert feed.pool.submit(record).outcome is Outcome.BUFFERED
        before = feed.pool.waiting()
        assert feed.pool.submit(record).outcome is Outcome.DUPLICATE
        assert feed.pool.waiting() == before
        feed("bob"), feed("cat")
        assert feed.pool.submit(record).outcome is Outcome.DUPLICATE

    def test_a_text_enters_once_a_person_and_audience(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(K1))
        feed("ann", units=(T[0], T[1]))
        assert feed.outcome("ann", FILM, units=(T[0],)) is Outcome.REPEATED
        assert feed.outcome("ann", units=(T[1], T[0])) is Outcome.BUFFERED
        assert feed.outcome("ann", units=(T[0],), audience="general|news") is Outcome.BUFFERED
        assert feed.outcome("bob", units=(T[0],)) is Outcome.BUFFERED
        assert feed.outcome("ann") is Outcome.BUFFERED
        feed("cat")
        assert feed.outcome("ann", units=(T[0],)) is Outcome.REPEATED

    def test_cap_on_what_one_person_has_waiting_at_a_node(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(person_cap=2)))
        feed("ann"), feed("ann")
        assert feed.outcome("ann", units=(T[0],)) is Outcome.CAPPED
        feed("ann", FILM), feed("ann", audience="general|news")
        feed("bob"), feed("cat")
        assert feed.outcome("ann", units=(T[0],)) is Outcome.BUFFERED  # withheld, so it had not entered

    def test_bucket_is_of_the_time_of_forming_and_the_clock_never_runs_back(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(time_bucket_s=900)))
        feed("ann", time=1_000.0), feed("bob", time=2_750.5)
        assert feed("cat", time=10.0)[0].bucket == 2_700

    def test_clock_is_what_the_events_show(self, make_pool: MakeBackend) -> None:
        """Steps that leave no time in the evidence must not change what a replay of the evidence forms."""
        feed = Feeder(make_pool(with_settings(time_bucket_s=10, max_delay_s=100.0, person_cap=1)))
        feed("ann", time=1.0, units=(T[0],))
        assert feed.outcome("ann", time=80.0) is Outcome.CAPPED
        assert feed.outcome("ann", FILM, time=80.0, units=(T[0],)) is Outcome.REPEATED
        assert feed.pool.tick(90.0) == Step()
        feed("bob", time=2.0)
        assert feed("cat", time=3.0)[0].bucket == 0
        feed("dan", FILM, time=4.0)
        assert feed.pool.tick(125.0).raised
        feed("ann", time=5.0), feed("bob", time=5.0)
        assert feed("cat", time=6.0)[0].bucket == 120


class TestMovingUp:
    """Rare categories (8.6)."""

    def test_after_records_of_its_own_audience(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(max_delay_records=2)))
        feed("ann")
        for _ in range(5):
            feed("bob", audience="general|news")
        feed("bob", FILM)
        assert {moved.record for moved in feed.pool.tick(0.0).raised} == {b"r1", b"r2", b"r3"}
        feed("bob", FILM)
        assert feed.pool.tick(0.0).raised == (Raised(b"r0", MUSIC, ("Arts",)),)

    def test_after_seconds(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(max_delay_s=10.0)))
        feed("ann", time=5.0)
        assert feed.pool.tick(14.9) == Step()
        assert feed.pool.tick(15.0).raised == (Raised(b"r0", MUSIC, ("Arts",)),)
        assert feed.pool.tick(24.9) == Step()
        assert feed.pool.tick(25.0).raised == (Raised(b"r0", ("Arts",), ()),)
        assert feed.pool.tick(34.9) == Step()
        assert feed.pool.tick(35.0).suppressed == (Suppressed(b"r0", Reason.EXPIRED),)
        assert not feed.pool.waiting()

    def test_keeps_its_place_in_the_order_of_arrival(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(max_delay_s=10.0)))
        feed("ann", time=0.0)
        feed("ann", ("Arts",), time=5.0)
        feed("bob", ("Arts",), time=5.0)
        assert feed.pool.tick(10.0).raised == (Raised(b"r0", MUSIC, ("Arts",)),)
        (group,) = feed("cat", ("Arts",), time=11.0)
        assert records(group) == [b"r0", b"r2", b"r3"]
        assert [w.record for w in feed.pool.waiting()] == [b"r1"]

    def test_group_with_a_raised_record_shows_its_node_alone(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(max_delay_s=10.0, min_text_users=1, margin=0, k=1)))
        feed("ann", units=(T[0],))
        feed.pool.tick(10.0)
        (group,) = feed("bob", ("Arts",), units=(T[0],), time=10.0)
        assert group.raised and group.node == ("Arts",)
        assert rungs(group) == [(Rung.NODE, None)] * 2
        feed("bob", ("Arts",), units=(T[1],), time=10.0)
        (group,) = feed("cat", ("Arts",), units=(T[1],), time=10.0)
        assert not group.raised
        assert rungs(group) == [(Rung.TEXT, 0)] * 2

    def test_moving_completes_a_group_above(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(max_delay_s=10.0)))
        feed("ann", MUSIC), feed("bob", FILM), feed("cat", ("Arts", "Dance"))
        step = feed.pool.tick(10.0)
        assert [moved.record for moved in step.raised] == [b"r0", b"r1", b"r2"]
        (group,) = step.groups
        assert (group.node, records(group), group.raised) == (("Arts",), [b"r0", b"r1", b"r2"], True)

    def test_cap_holds_above_too(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(max_delay_s=10.0, person_cap=1)))
        feed("ann", MUSIC), feed("ann", FILM)
        step = feed.pool.tick(10.0)
        assert step.raised == (Raised(b"r0", MUSIC, ("Arts",)),)
        assert step.suppressed == (Suppressed(b"r1", Reason.CAPPED),)

    def test_unseasoned_move_up_and_still_do_not_count(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(max_delay_s=10.0)))
        feed("new", seasoned=False)
        feed.pool.tick(10.0)
        feed("ann", ("Arts",), time=10.0), feed("bob", ("Arts",), time=10.0)
        (group,) = feed("cat", ("Arts",), time=10.0)
        assert records(group) == [b"r0", b"r1", b"r2", b"r3"] and group.raised

    def test_a_step_is_bounded_and_says_whether_more_is_due(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(max_delay_s=10.0, k=5)))
        for i in range(5):
            feed(f"p{i}")
        steps = [feed.pool.tick(10.0, limit=2) for _ in range(3)]
        assert [len(step.raised) for step in steps] == [2, 2, 1]
        assert [step.more for step in steps] == [True, True, False]
        feed.pool.tick(20.0, limit=4)
        assert not feed.pool.tick(20.0, limit=1).more

    def test_audiences_are_served_in_the_order_of_their_first_records(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(max_delay_s=10.0)))
        feed("ann", audience="z"), feed("ann", audience="a"), feed("bob", audience="z")
        assert [moved.record for moved in feed.pool.tick(10.0).raised] == [b"r0", b"r2", b"r1"]


class TestLadder:
    """Identifying text (8.7): min_text_users 1 + margin 1, so two issuers show a text."""

    SETTINGS = with_settings(min_text_users=1)

    def test_text_unit_or_category(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(self.SETTINGS))
        feed("ann", units=(T[0], T[2], T[3]))
        feed("bob", units=(T[0], T[4]))
        (group,) = feed("cat", units=(T[1], T[5], T[3], T[0]))
        assert rungs(group) == [(Rung.TEXT, 0), (Rung.TEXT, 0), (Rung.UNIT, 2)]
        feed("ann", units=(T[6],)), feed("bob")
        assert rungs(feed("cat", units=(T[7],))[0]) == [(Rung.CATEGORY, None)] * 3

    def test_counts_distinct_seasoned_people_of_the_audience(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(self.SETTINGS))
        feed("new", units=(T[0],), seasoned=False)
        feed("bob", units=(T[0],), audience="general|news")
        feed("ann", units=(T[1], T[0])), feed("ann", FILM, units=(T[2], T[0]))
        feed("bob", units=(T[3],))
        (group,) = feed("cat", units=(T[4],))
        assert rungs(group) == [(Rung.CATEGORY, None)] * 4

    def test_issues_count_though_they_left_or_were_withdrawn(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(self.SETTINGS))
        feed("ann", FILM, units=(T[0],))
        feed.pool.withdraw("ann")
        feed("bob", units=(T[0],)), feed("cat")
        assert rungs(feed("dan")[0])[0] == (Rung.TEXT, 0)

    def test_what_was_withheld_counts_nothing(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(min_text_users=1, person_cap=1)))
        feed("ann", units=(T[1],))
        assert feed.outcome("ann", units=(T[0],)) is Outcome.CAPPED
        feed("bob", units=(T[0],))
        assert rungs(feed("cat")[0])[1] == (Rung.CATEGORY, None)

    def test_nothing_short_of_the_threshold_is_shown(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(min_text_users=4, margin=0, k=1)))
        for i, person in enumerate(("ann", "bob", "cat")):
            feed(person, ("Lone", person), units=(T[i + 1], T[0]))
        feed("ann", ("Lone", "again"), units=(T[4], T[0]))
        feed("ann", units=(T[5],))
        assert rungs(feed("bob", units=(T[6], T[0]))[0]) == [(Rung.CATEGORY, None)] * 2
        feed("ann", units=(T[7],))
        assert rungs(feed("dan", units=(T[4], T[0]))[0]) == [(Rung.CATEGORY, None), (Rung.UNIT, 1)]


class TestLeaving:
    """Withdrawal (7) and the end of the epoch (8.6)."""

    def test_withdrawal_takes_one_person_out_of_given_audiences(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(K1))
        feed("ann"), feed("bob"), feed("ann", FILM), feed("ann", audience="general|news")
        assert feed.pool.withdraw("ann", ("general|shop", "nobody")) == (b"r0", b"r2")
        assert feed.pool.withdraw("ann", ("general|shop",)) == ()
        assert not feed("cat")
        assert records(feed("dan")[0]) == [b"r1", b"r4", b"r5"]
        assert [w.record for w in feed.pool.waiting()] == [b"r3"]

    def test_withdrawal_from_all(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(max_delay_s=10.0)))
        feed("ann", audience="b"), feed("ann", FILM, audience="a"), feed("bob", audience="a"), feed("ann", audience="a")
        feed.pool.tick(10.0, limit=3)
        assert feed.pool.withdraw("ann") == (b"r0", b"r1", b"r3")
        assert [w.person for w in feed.pool.waiting()] == ["bob"]
        assert feed.pool.withdraw("nobody") == ()

    def test_close_gives_up_what_waits_and_takes_no_more(self, make_pool: MakeBackend) -> None:
        feed = Feeder(make_pool(with_settings(max_delay_s=10.0)))
        feed("ann", audience="b"), feed("ann", audience="a"), feed("bob", audience="b", time=1.0)
        feed.pool.tick(10.0, limit=1)
        first = feed.pool.close(limit=2)
        assert [item.record for item in first.suppressed] == [b"r2", b"r0"] and first.more
        assert feed.pool.close() == Step(suppressed=(Suppressed(b"r1", Reason.EPOCH_END),))
        assert feed.pool.close() == Step()
        with pytest.raises(PoolClosedError):
            feed("cat")
        assert not feed.pool.waiting()
