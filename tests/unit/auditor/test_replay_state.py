"""A replay that is stored after every step goes on as one that was never stored."""

import random
from dataclasses import fields

import pytest

from auditor.checks.c5_replay import EpochReplay, ReplayState
from auditor.checks.c5_slots import SlotReplay
from auditor.checks.c5_spill import EpochMemory, Spill
from auditor.checks.c5_split import SplitReplay, SplitReplayState
from auditor.checks.c7_completeness import Sets
from auditor.plain import dumps, loads
from proxid.anonymise.mix.cycle import CycleSource
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Group, Member, PoolState, Record, Rung
from proxid.anonymise.slotted.pool import SlotPool
from proxid.anonymise.slotted.types import SlotGroup, SlotPoolState, SlotRecord, SlotSettings
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.settings import SplitSettings
from proxid.errors import GroupMismatchError
from proxid.evidence.events import BufferedPayload
from proxid.evidence.splitting import portions

EPOCH = 7
PLACE = Draws(bytes(32)).place


def stored(pool: Pool, memory: EpochMemory) -> Pool:
    data = dumps(PoolState, pool.state())
    again = Pool.restored(loads(PoolState, data), memory)
    assert again.state() == pool.state() and list(again.waiting()) == list(pool.waiting())
    return again


def test_pool_stored_after_every_step_does_the_same() -> None:
    """Arrivals, delays by records and by seconds, caps above, withdrawals, and the end of the epoch."""
    kinds = set()
    for seed in range(5):
        source = random.Random(seed)
        settings = Settings(
            k=source.choice((1, 2)), level=2, min_text_users=1, max_delay_records=source.choice((None, 15)),
            max_delay_s=source.choice((None, 20.0)), person_cap=source.choice((None, 2)),
        )  # fmt: skip
        memory = EpochMemory(Spill(Sets()), EPOCH)
        whole, other, now = Pool(settings), Pool(settings, memory), 0.0
        for i in range(160):
            now += source.random() * 4
            person, draw = f"person-{source.randrange(9)}", source.random()
            if draw < 0.8:
                units = (b"text %d" % source.randrange(24), b"unit %d" % source.randrange(3))
                path = ("Home", f"n{source.randrange(4)}", "leaf")[: source.randrange(4)]
                record = Record(
                    b"%d" % i, person, person > "person-3", source.choice(("all", "few")), path, units, now
                )  # fmt: skip
                one, two = whole.submit(record), other.submit(record)
                kinds.add(one.outcome.value)
                kinds.update(member.rung.value for group in one.groups for member in group.members)
                assert one == two
            elif draw < 0.97:
                step = whole.tick(now, limit=1)
                kinds.update(gone.reason.value for gone in step.suppressed)
                kinds.update("raised" for _ in step.raised)
                assert step == other.tick(now, limit=1)
            else:
                assert whole.withdraw(person, {"all"}) == other.withdraw(person, {"all"})
            other = stored(other, memory)
        while (step := whole.close(limit=1)).suppressed:
            assert step == other.close(limit=1)
            other = stored(other, memory)
        assert not list(other.waiting())
    assert {"buffered", "repeated", "capped", "raised", "expired", "text", "unit", "node"} <= kinds


def test_slots_stored_after_every_step_do_the_same() -> None:
    kinds = set()
    for seed in range(5):
        source = random.Random(seed)
        settings = SlotSettings(k=2, margin=0, widths=(4.0, 8, 16.0), depth=3, rounds=seed > 1)
        whole = SlotPool(settings, 100.0, PLACE)
        other, now = SlotPool(settings, 100.0, PLACE), 0.0
        for i in range(200):
            now = min(now + source.random(), 99.0)
            person = f"person-{source.randrange(6)}"
            if source.random() < 0.85:
                path = ("a", f"b{source.randrange(2)}", f"c{source.randrange(2)}")
                record = SlotRecord(b"%d" % i, person, person > "person-1", "all", path, "iot:on", now)
                said = whole.submit(record)
                assert said == other.submit(record)
                kinds.add(said)
            elif source.random() < 0.8:
                done = whole.close(now)
                assert done == other.close(now)
                kinds.update({"group"} if done.groups else (), {"lifted"} if done.lifted else ())
            else:
                assert whole.remove(b"%d" % (i - 1)) == other.remove(b"%d" % (i - 1))
            other = SlotPool.restored(loads(SlotPoolState, dumps(SlotPoolState, other.state())), PLACE)
            assert other.state() == whole.state()
        assert whole.close(100.0) == other.close(100.0)
    assert {None, "slot_quota", "group", "lifted"} <= kinds


def test_replay_comes_back_with_every_part() -> None:
    """What a close did and the log has not said yet, groups that are due, what leaves and is withheld."""
    memory = EpochMemory(Spill(Sets()), EPOCH)
    payload = BufferedPayload(b"s", "px1a", True, "acme:alias", "command", b"o", "v1", ("a",), ("t", "u"), 5)
    slot = SlotRecord(b"s", "px1a", True, "command|acme:alias", ("a",), "on", 0.005)
    slots = SlotReplay(
        SlotPool(SlotSettings(k=2, margin=1), 9.0, PLACE), SlotSettings(k=2, margin=1), 4.5,
        {b"r": (("a", "b"), ("a",))}, {b"g": "too_few"},
        [SlotGroup("command|acme:alias", ("a",), 0.0, 4.0, (slot,), True)], {b"w"}, {b"s": payload}, 3,
    )  # fmt: skip
    group = Group(3, "all", ("Home",), False, 900, (Member(b"m", "px1b", True, Rung.UNIT, 1),))
    at = EpochReplay(
        Pool(Settings(), memory), CycleSource(bytes(32)), {3: group}, {b"s": payload}, {b"l"}, {"command": slots},
        {"general"}, {b"x"}, {"px1a": {b"place"}}, True,
    )  # fmt: skip
    assert all(getattr(one, f.name) != f.default for one in (slots, at) for f in fields(one) if f.name != "split")
    data = dumps(ReplayState, at.state())
    again = EpochReplay.restored(loads(ReplayState, data), at.cycles, memory, PLACE)
    assert again.slots["command"].settings == slots.settings and again.slots["command"].state() == slots.state()
    for name in (f.name for f in fields(at)):
        if name not in ("pool", "slots"):
            assert getattr(again, name) == getattr(at, name), name
    assert again.pool.state() == at.pool.state()


def test_split_replay_comes_back_with_every_part() -> None:
    """Before its ticks, between them, and while what the close decided is not said yet."""
    settings, seed, draws = SplitSettings(k=1, margin=0, bucket_s=9, epoch_s=27), bytes(32), Draws(bytes(32))

    def again(at: SplitReplay) -> SplitReplay:
        back = SplitReplay.restored(loads(SplitReplayState, dumps(SplitReplayState, at.state())), seed, EPOCH)
        assert back.state() == at.state()
        return back

    at = SplitReplay(settings, seed, EPOCH, shows=True)
    for i, node in enumerate("aaabbbcccd"):
        path, audience = (node, "leaf"), "acme:alias"
        at.buffer(BufferedPayload(b"%d" % i, f"u{i % 3}", True, audience, "general", b"", "v1", path, ("text",), 5))
        at = again(at)
    at.ticked(1)
    at = again(at)
    assert at.pending == 1
    for number, portion in portions(1, {"all": [one for due in at.state().due.values() for one in due]}, draws):
        assert [one.record.id for one in at.state().due[number]] == [one.record.id for one in portion]
        at.released_unread(number, "all")
    at.withdrawn(b"0", left=True)
    with pytest.raises(GroupMismatchError, match="left records of the person behind"):
        again(at).ticked(3)
    for session in (b"3", b"6"):
        at.withdrawn(session, left=True)
    at.withdrawn(b"9", left=False)
    at.ticked(3)
    at = again(at)
    assert at.pending == 1, "contents"
