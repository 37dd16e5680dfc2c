"""Withdrawals that race with deliveries, and honest evenings with crashes in the middle (DESIGN 7, 10.4 (6), 12)."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from gateway.store.library import GatewayStore
from main_service.store.library import library
from main_service.store.pool import PoolStore
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Record
from proxid.errors import ProxidError
from proxid.evidence.events import BufferedPayload
from tests.support.pools import always
from tests.support.trial import PARTIES, PEOPLE, Trial, running

EPOCH = 7


class Delivery:
    """One group of two in flight to a party while one of them withdraws: every step may come at any time."""

    def __init__(self, store: GatewayStore, number: int, source: random.Random) -> None:
        self.store, self.number, self.source = store, number, source
        self.party = f"party-{number}"
        self.people = (f"{number:028x}aaaa", f"{number:028x}bbbb")
        self.grant = f"{self.party}|general|user_id"
        self.delivered_at = 0
        self.acknowledged_at = 0
        self.taken_at = 0
        self.clock = 0

    async def consent(self, who: int, version: int, *grants: str) -> None:
        await self.store.consent(self.people[who], EPOCH, version, b"v%d" % version, grants, 1000)

    async def run(self) -> None:
        for who in (0, 1):
            await self.consent(who, 1, self.grant)
        steps = [self.append(), self.party_takes(), self.party_takes(), self.withdraws(), self.party_takes()]
        pending = [asyncio.ensure_future(step) for step in self.source.sample(steps, len(steps))]
        await asyncio.gather(*pending)

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    async def pause(self) -> None:
        for _ in range(self.source.randrange(4)):
            await asyncio.sleep(0)

    async def append(self) -> None:
        await self.pause()
        await self.store.append(
            self.party, (EPOCH, 1), "general|user_id", b"records", self.number + 1,
            [(member, f"name-{member}") for member in self.people],
        )  # fmt: skip

    async def party_takes(self) -> None:
        await self.pause()
        entries = await self.store.take(self.party, 0, 8)
        if entries:
            self.taken_at = self.tick()
        await self.pause()
        for entry in entries:
            if self.source.random() < 0.5 and await self.store.delivered(self.party, entry, b"ack", 100) == "NEW":
                self.delivered_at = self.tick()

    async def withdraws(self) -> None:
        await self.pause()
        await self.consent(0, 2)
        self.acknowledged_at = self.tick()


@pytest.mark.parametrize("interleavings", [200, pytest.param(1000, marks=pytest.mark.slow)])
async def test_after_the_acknowledgement_nothing_is_delivered(client: Redis, interleavings: int) -> None:
    store = GatewayStore(client)
    await store.open()
    source = random.Random(6)
    late = 0
    for number in range(interleavings):
        race = Delivery(store, number, source)
        await race.run()
        assert race.acknowledged_at
        for written in await store.take(race.party, 0, 8):
            # What is still shown was acknowledged by the party before: nothing new goes out.
            assert race.delivered_at and race.delivered_at < race.acknowledged_at
            assert await store.delivered(race.party, written, b"ack", 100) == "SAME"
        late += race.delivered_at > race.acknowledged_at > 0
    assert late == 0


def payload(person: str, session: bytes) -> BufferedPayload:
    return BufferedPayload(session, person, True, "acme:user_id", "general", b"", "p", ("a", "b"), ("t",), 0)


@pytest.mark.parametrize("races", [80, pytest.param(300, marks=pytest.mark.slow)])
async def test_a_group_one_short_never_takes_in_who_has_withdrawn(client: Redis, races: int) -> None:
    """Fill a group to one short; one withdraws while another comes: with the one or without, never after."""
    functions = library(client)
    await functions.load()
    pool = PoolStore(functions, always(Settings(k=2, margin=1, level=2)))
    source = random.Random(7)
    for number in range(races):
        epoch = number + 1
        people = [f"px-{number}-{i}" for i in range(4)]

        async def submit(who: int, epoch: int = epoch, people: list[str] = people) -> list[int]:
            session = f"{epoch:032d}{who:032d}".encode()
            item = Record(session, people[who], True, "general|acme:user_id", ("a", "b"), (), 1.0)
            return (await pool.submit(epoch, item, payload(people[who], session)))[1]

        for who in range(3):
            await submit(who)
        order: list[Any] = [pool.withdraw(epoch, people[source.randrange(3)]), submit(3)]
        source.shuffle(order)
        results = await asyncio.gather(*order)
        formed = next(r for r in results if isinstance(r, list))
        gone = next(r for r in results if isinstance(r, int))
        assert bool(formed) != bool(gone)  # whoever was first in the store decided
        for group in await pool.unreleased(epoch):
            assert len({m.person for m in group.group.members}) == 4 and not gone


def names(groups: dict[str, list[Any]]) -> set[str]:
    return {record.user for some in groups.values() for group in some for record in group.records}


async def race_in_a_trial(trial: Trial, source: random.Random) -> None:
    """Fill to one short, then withdraw while the last one asks and parties receive; then look."""
    await trial.consent()
    victim, node = PEOPLE[1], f"node{source.randrange(1000)}"
    await trial.ask(f"{node} question", PEOPLE[:3])

    async def late(job: Any) -> Any:
        await asyncio.sleep(source.random() * 0.3)
        return await job

    await asyncio.gather(
        late(trial.device.consent(victim, "nothing")), late(trial.ask(f"{node} question", PEOPLE[3:4])),
        late(trial.receive("acme")),
    )  # fmt: skip
    after = await trial.receive()
    await trial.settle()
    after2 = await trial.receive()
    assert victim not in names(after) and victim not in names(after2)
    assert (await trial.audit()).violations == []


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in range(1, 20))])
async def test_a_withdrawal_races_with_a_release(tmp_path: Path, seed: int) -> None:
    async with running(tmp_path) as trial:
        await race_in_a_trial(trial, random.Random(seed))


async def stubborn(trial: Trial, user: str, text: str) -> None:
    """Ask until answered, as a person would."""
    for _ in range(20):
        try:
            await trial.device.ask(user, text)
            return
        except ProxidError:
            await asyncio.sleep(0.2)
    raise AssertionError("a request was never answered")


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in range(1, 30))])
async def test_honest_evenings_with_crashes_are_clean(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    async with running(tmp_path) as trial:
        await trial.consent(source.choice(("everything", "searches", "aliased")))
        for turn in range(3):
            asking = [stubborn(trial, user, f"node{turn} question") for user in PEOPLE[: source.randrange(4, 9)]]
            jobs = asyncio.gather(*asking)
            await asyncio.sleep(source.random() * 0.3)
            role = source.choice(("gateway", "main-service"))
            await trial.halt(role)
            await trial.serve(role)
            await jobs
            if source.random() < 0.5:
                await trial.receive(source.choice(PARTIES))
            if source.random() < 0.4:
                await trial.device.consent(source.choice(PEOPLE), source.choice(("nothing", "searches")))
        await trial.settle()
        await trial.receive()
        report = await trial.audit()
    assert report.violations == []
    assert report.counts["released"] >= 4
