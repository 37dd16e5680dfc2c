"""Slots of location queries and commands: one set of expectations, in memory and on a real store (DESIGN 8.8, 8.9)."""

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

import pytest

from main_service.store.library import library
from main_service.store.pool import PoolStore
from main_service.store.requests import RequestStore
from main_service.store.slots import SlotStore
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.slotted.pool import SlotPool
from proxid.anonymise.slotted.types import Closing, SlotGroup, SlotRecord, SlotSettings
from proxid.anonymise.split.draws import Draws
from proxid.encoding import encode
from proxid.evidence.events import BufferedPayload
from proxid.protocol.epochs import Epochs
from proxid.runtime.store import connect
from proxid.runtime.store.embedded import EmbeddedStore
from tests.support.pools import always

SETTINGS = SlotSettings(k=2, margin=1, widths=(10.0, 20.0, 40.0), depth=3)
OLD = SlotSettings(k=2, margin=1, widths=(10.0, 20.0, 40.0), depth=3, rounds=False)
EPOCHS = Epochs(1000)
DRAWS = Draws(bytes(range(32)))
KIND = "location"


def payload_of(record: SlotRecord) -> BufferedPayload:
    """What the evidence would hold; the time in whole milliseconds."""
    return BufferedPayload(
        record.id, record.person, record.seasoned, "acme:user_id", KIND, b"", "test", record.path, (record.intent, ""),
        int(record.time * 1000),
    )  # fmt: skip


class Slots(Protocol):
    """What both backends do."""

    async def submit(self, record: SlotRecord) -> bool: ...
    async def close(self, now: float) -> Closing: ...
    async def withdraw(self, person: str) -> int: ...


class InMemory:
    """The pool that the auditor replays with."""

    def __init__(self, settings: SlotSettings = SETTINGS, draws: Draws = DRAWS) -> None:
        self.pool = SlotPool(settings, EPOCHS.end(0), draws.place)

    async def submit(self, record: SlotRecord) -> bool:
        return self.pool.submit(record) is None

    async def close(self, now: float) -> Closing:
        return self.pool.close(now)

    async def withdraw(self, person: str) -> int:
        return len(self.pool.withdraw(person))


class OnStore:
    """The Main Service's slots, with the request path's pending records before them."""

    def __init__(self, url: str, settings: SlotSettings = SETTINGS, draws: Draws = DRAWS) -> None:
        self.client = connect(url)
        functions = library(self.client)
        self.functions = functions
        self.slots = SlotStore(functions, always({KIND: settings, "command": settings}), always(draws), EPOCHS)
        self.pool = PoolStore(functions, always(Settings()))
        self.requests = RequestStore(functions)
        self.version = 0

    async def submit(self, record: SlotRecord) -> bool:
        await self.client.zadd("{ms}:pending", {record.id: 1})
        return await self.slots.log(0, 0, record, payload_of(record)) == "buffered"

    async def close(self, now: float) -> Closing:
        return await self.slots.close(0, KIND, now)

    async def withdraw(self, person: str) -> int:
        before = await self.client.xlen("{ms}:events")
        signed = type("Signed", (), {"session_id": encode("c", person)})
        await self.pool.consent(0, person, signed, ("nothing", 1), (b"", b""), (), 1000)  # type: ignore[arg-type]
        return await self.client.xlen("{ms}:events") - before - 1


@pytest.fixture(params=["memory", "store"])
async def slots(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Slots]:
    if request.param == "memory":
        yield InMemory()
        return
    with EmbeddedStore(tmp_path / "store", appendfsync="everysec") as server:
        backend = OnStore(server.url)
        await backend.functions.load()
        yield backend
        await backend.client.aclose()


class Maker:
    """Records with ids in order."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(
        self, person: str, path: str, time: float, intent: str = "weather", seasoned: bool = True, floor: float = 0.0
    ) -> SlotRecord:
        self.count += 1
        audience = f"{KIND}|acme:user_id"
        return SlotRecord(
            self.count.to_bytes(64, "big"), person, seasoned, audience, tuple(path.split("/")), intent, time, floor
        )


@pytest.fixture
def make() -> Maker:
    return Maker()


def people(group: SlotGroup) -> list[str]:
    return [record.person for record in group.members]


async def test_enough_people_leave_together_at_the_close(slots: Slots, make: Maker) -> None:
    for i in range(3):
        assert await slots.submit(make(f"p{i}", "a/b/c", 1.0 + i))
    assert (await slots.close(9.9)).groups == ()
    done = await slots.close(10.0)
    [group] = done.groups
    assert (group.node, group.start, group.end, people(group)) == (("a", "b", "c"), 0.0, 10.0, ["p0", "p1", "p2"])
    assert (await slots.close(1000.0)).groups == ()


async def test_too_few_move_up_and_their_slot_widens(slots: Slots, make: Maker) -> None:
    for person, path, time in [("p0", "a/b/c", 1.0), ("p1", "a/b/d", 2.0), ("p2", "a/b/c", 12.0)]:
        await slots.submit(make(person, path, time))
    done = await slots.close(10.0)
    assert [(w.record.person, source, w.node) for w, source in done.lifted] == [
        ("p0", ("a", "b", "c"), ("a", "b")), ("p1", ("a", "b", "d"), ("a", "b")),
    ]  # fmt: skip
    [group] = (await slots.close(20.0)).groups
    assert (group.node, group.start, group.end, people(group)) == (("a", "b"), 0.0, 20.0, ["p0", "p1", "p2"])


async def test_a_sibling_with_too_few_holds_the_others_back(slots: Slots, make: Maker) -> None:
    for i in range(3):
        await slots.submit(make(f"p{i}", "a/b/c", 1.0))
    await slots.submit(make("p3", "a/b/d", 1.0))
    assert (await slots.close(10.0)).groups == ()
    [group] = (await slots.close(20.0)).groups
    assert group.node == ("a", "b")
    assert len(group.members) == 4


async def test_at_the_top_each_node_decides_for_itself(slots: Slots, make: Maker) -> None:
    for i in range(3):
        await slots.submit(make(f"p{i}", "a/b/c", 1.0))
    await slots.submit(make("p3", "a/b/d", 1.0))
    await slots.submit(make("p4", "z/y/x", 1.0))
    done = await slots.close(40.0)
    assert [g.node for g in done.groups] == [("a", "b")]
    assert [(g.record.person, g.reason.value) for g in done.given_up] == [("p4", "too_few")]


async def test_a_persons_records_leave_in_rounds(slots: Slots, make: Maker) -> None:
    for time in (1.0, 2.0, 3.0):
        for person in ("p0", "p1", "p2"):
            assert await slots.submit(make(person, "a/b/c", time))
    for _ in range(2):
        assert await slots.submit(make("p0", "a/b/c", 4.0))
    done = await slots.close(10.0)
    assert [sorted(people(group)) for group in done.groups] == [["p0", "p1", "p2"]] * 3
    assert [(g.record.person, g.reason.value) for g in done.given_up] == [("p0", "too_few")] * 2
    assert done.lifted == ()


async def test_rounds_are_not_in_order_of_time(slots: Slots, make: Maker) -> None:
    for time in range(8):
        for person in ("p0", "p1", "p2"):
            assert await slots.submit(make(person, "a/b/c", float(time)))
    groups = (await slots.close(10.0)).groups
    assert len(groups) == 8
    orders = [[record.time for group in groups for record in group.members if record.person == p] for p in ("p0", "p1")]
    assert orders[0] != sorted(orders[0])
    assert orders[0] != orders[1]


@pytest.mark.parametrize("stored", [False, True])
async def test_rounds_are_drawn_from_the_epochs_seed(tmp_path: Path, make: Maker, stored: bool) -> None:
    """Whoever knows or chooses the records' ids, as a device and the gateway do, knows nothing of their order."""
    records = [make(person, "a/b/c", float(time)) for time in range(8) for person in ("p0", "p1", "p2")]
    orders = []
    with EmbeddedStore(tmp_path / "store", appendfsync="everysec") as server:
        for draws in (DRAWS, Draws(bytes(32))):
            slots: InMemory | OnStore = OnStore(server.url, draws=draws) if stored else InMemory(draws=draws)
            if isinstance(slots, OnStore):
                await slots.client.flushall()
                await slots.functions.load()
            for record in records:
                assert await slots.submit(record)
            orders.append([[record.id for record in group.members] for group in (await slots.close(10.0)).groups])
            if isinstance(slots, OnStore):
                await slots.client.aclose()
    assert orders[0] != orders[1]


async def test_a_ripe_sibling_leaves_when_the_others_hide_each_other(slots: Slots, make: Maker) -> None:
    for i in range(3):
        await slots.submit(make(f"p{i}", "a/b/c", 1.0))
    for i in range(3, 6):
        await slots.submit(make(f"p{i}", f"a/b/{i}", 1.0))
    done = await slots.close(10.0)
    assert [(group.node, people(group)) for group in done.groups] == [(("a", "b", "c"), ["p0", "p1", "p2"])]
    assert [w.record.person for w, _ in done.lifted] == ["p3", "p4", "p5"]
    [group] = (await slots.close(20.0)).groups
    assert (group.node, people(group)) == (("a", "b"), ["p3", "p4", "p5"])


async def test_who_is_seen_in_a_sibling_that_leaves_hides_nobody(slots: Slots, make: Maker) -> None:
    for i in range(3):
        await slots.submit(make(f"p{i}", "a/b/c", 1.0))
    for person in ("p0", "p3", "p4"):  # three people are left over, but one of them was seen next door
        await slots.submit(make(person, "a/b/d" if person == "p0" else "a/b/e", 1.0))
    assert (await slots.close(10.0)).groups == ()
    groups = (await slots.close(20.0)).groups
    assert [group.node for group in groups] == [("a", "b")]
    assert len(groups[0].members) == 5


async def test_the_smallest_ripe_sibling_joins_the_others(slots: Slots, make: Maker) -> None:
    for i in range(4):
        await slots.submit(make(f"p{i}", "a/b/c", 1.0))
    for i in range(4, 7):
        await slots.submit(make(f"p{i}", "a/b/d", 1.0))
    await slots.submit(make("p7", "a/b/e", 1.0))
    done = await slots.close(10.0)
    assert [(group.node, len(group.members)) for group in done.groups] == [(("a", "b", "c"), 4)]
    assert sorted(w.record.person for w, _ in done.lifted) == ["p4", "p5", "p6", "p7"]


@pytest.mark.parametrize("stored", [False, True])
async def test_without_rounds_one_record_a_person_and_slot_is_taken(tmp_path: Path, make: Maker, stored: bool) -> None:
    """Policies of before there were rounds go on as they were, and are audited so."""
    with EmbeddedStore(tmp_path / "store", appendfsync="everysec") as server:
        slots: InMemory | OnStore = OnStore(server.url, OLD) if stored else InMemory(OLD)
        if isinstance(slots, OnStore):
            await slots.functions.load()
        assert await slots.submit(make("p0", "a/b/c", 1.0))
        assert not await slots.submit(make("p0", "a/b/d", 2.0))
        assert await slots.submit(make("p0", "a/b/c", 11.0))
        for i in (1, 2):
            await slots.submit(make(f"p{i}", "a/b/d", 3.0))
        done = await slots.close(20.0)  # both of p0's slots end at a/b's
        assert people(done.groups[0]) == ["p0", "p1", "p2"]
        assert [(g.record.person, g.reason.value) for g in done.given_up] == [("p0", "slot_quota")]
        if isinstance(slots, OnStore):
            await slots.client.aclose()


async def test_the_unseasoned_join_and_do_not_count(slots: Slots, make: Maker) -> None:
    for i in range(3):
        await slots.submit(make(f"p{i}", "a/b/c", 1.0, seasoned=i > 0))
    await slots.submit(make("q0", "a/b/c", 21.0))
    done = await slots.close(1000.0)
    assert [people(g) for g in done.groups] == [["p0", "p1", "p2", "q0"]]


async def test_many_people_are_split_into_groups_that_are_large_enough(slots: Slots, make: Maker) -> None:
    for i in range(8):
        await slots.submit(make(f"p{i}", "a/b/c", 1.0))
    groups = (await slots.close(10.0)).groups
    assert [len(g.members) for g in groups] == [3, 5]


async def test_intents_are_shown_only_if_diverse(slots: Slots, make: Maker) -> None:
    for i, intent in enumerate(["x", "x", "y", "z"]):
        await slots.submit(make(f"p{i}", "a/b/c", 1.0, intent))
    for i, intent in enumerate(["x", "x", "x", "y", "z"]):
        await slots.submit(make(f"p{i}", "a/b/e", 11.0, intent))
    diverse = [g.diverse for g in (await slots.close(10.0)).groups + (await slots.close(20.0)).groups]
    assert diverse == [True, False]


async def test_a_floor_keeps_time_coarse(slots: Slots, make: Maker) -> None:
    for i in range(3):
        await slots.submit(make(f"p{i}", "a/b/c", 1.0, floor=15.0))
    assert (await slots.close(10.0)).groups == ()
    [group] = (await slots.close(20.0)).groups
    assert (group.node, group.end) == (("a", "b", "c"), 20.0)


async def test_a_withdrawal_takes_the_person_out(slots: Slots, make: Maker) -> None:
    for i in range(3):
        await slots.submit(make(f"p{i}", "a/b/c", 1.0))
    assert await slots.withdraw("p1") == 1
    assert (await slots.close(1000.0)).groups == ()


async def test_every_slot_ends_with_its_epoch(slots: Slots, make: Maker) -> None:
    for i in range(3):
        await slots.submit(make(f"p{i}", f"a/b/{i}", 999.0))
    [group] = (await slots.close(1000.0)).groups
    assert (group.node, group.end) == (("a", "b"), 1000.0)


async def test_what_comes_late_waits_in_the_next_open_slot(tmp_path: Path, make: Maker) -> None:
    with EmbeddedStore(tmp_path / "store", appendfsync="everysec") as server:
        backend = OnStore(server.url)
        await backend.functions.load()
        await backend.close(10.0)
        assert await backend.submit(make("p0", "a/b/c", 5.0))
        for i in (1, 2):
            await backend.submit(make(f"p{i}", "a/b/c", 12.0))
        [group] = (await backend.close(20.0)).groups
        assert (group.start, group.end) == (10.0, 20.0)
        await backend.client.aclose()


async def test_both_backends_agree_step_by_step(tmp_path: Path, make: Maker) -> None:
    with EmbeddedStore(tmp_path / "store", appendfsync="everysec") as server:
        for seed in range(3):
            memory, stored = InMemory(), OnStore(server.url)
            await stored.client.flushdb()
            await stored.functions.load()
            rng, now = random.Random(seed), 0.0
            for _ in range(200):
                now += rng.random() * 2
                path = "/".join(rng.choice("ab") for _ in range(rng.choice([2, 3])))
                person = rng.randrange(15)
                record = make(f"p{person}", path, now, rng.choice("xyz"), person % 4 != 0, rng.choice([0, 0, 15.0]))
                assert await memory.submit(record) == await stored.submit(record)
                if rng.random() < 0.1:
                    assert await memory.close(now) == await stored.close(now)
            assert await memory.close(1000.0) == await stored.close(1000.0)
            assert memory.pool.waiting == ()
            await stored.client.aclose()
