"""A replay that is stored after every step goes on as one that was never stored."""

import random

from auditor.checks.c5_spill import EpochMemory, Spill
from auditor.checks.c7_completeness import Sets
from auditor.plain import dumps, loads
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import PoolState, Record
from proxid.anonymise.slotted.pool import SlotPool
from proxid.anonymise.slotted.types import SlotPoolState, SlotRecord, SlotSettings

EPOCH = 7


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
        settings = SlotSettings(k=2, margin=0, widths=(4.0, 8, 16.0), depth=3)
        whole = SlotPool(settings, 100.0)
        other, now = SlotPool(settings, 100.0), 0.0
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
            other = SlotPool.restored(loads(SlotPoolState, dumps(SlotPoolState, other.state())))
            assert other.state() == whole.state()
        assert whole.close(100.0) == other.close(100.0)
    assert {None, "slot_quota", "group", "lifted"} <= kinds
