"""An erasure takes one person's things and nothing else, whatever the person is called: with everything that runs."""

import asyncio
import datetime
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from device_sim import enrolment
from device_sim.household import Household
from device_sim.rights import RightsClient
from device_sim.state import HouseholdState
from gateway.screener import key_tag
from gateway.server import screener_of
from proxid.config import DeviceConfig, EnrolmentAuthorityConfig, load
from proxid.errors import Code, RefusedError
from proxid.protocol.rights import Right
from proxid.store import connect
from proxid.store.evidence.writer import evidence_key_name
from tests.support.erased import Snapshot, groups_with, others, snapshot, without
from tests.support.house import PEOPLE, House, running

WORDS = (
    "gateway", "globex", "general", "location", "command", "alias", "user_id", "erased", "person", "person-", "px1",
    "node", "everything", "a", "0", "{gw}", "|", ":", "k:", "acme|general", "proxid", "cred", "link", "7/1/acme",
)  # fmt: skip
"""Words of the protocol, parts of other people's names, what keys are made of."""


def rights(house: House) -> RightsClient:
    return RightsClient(load(DeviceConfig, house.folder / "devices/household-1/device.toml"), house.device)


async def enrol(house: House, *names: str) -> None:
    """More people in the household."""
    authority = load(EnrolmentAuthorityConfig, house.folder / "ea/ea.toml")
    config = load(DeviceConfig, house.folder / "devices/household-1/device.toml")
    state, since = HouseholdState(config.data_dir), datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=30)
    issued = enrolment.issue(authority, enrolment.make_request(state, names), int(since.timestamp()))
    assert config.trust.enrolment_authority is not None
    enrolment.accept(state, issued, config.trust.enrolment_authority)
    await house.device.close()
    house.device = Household.open(config)


@asynccontextmanager
async def stores(house: House) -> AsyncIterator[list[Redis]]:
    """Clients of both services' stores."""
    clients = [connect(house.url(role)) for role in ("gateway", "main-service")]
    yield clients
    for client in clients:
        await client.aclose()


async def look(clients: list[Redis]) -> Snapshot:
    """Both stores as one."""
    return {key: value for client in clients for key, value in (await snapshot(client)).items()}


async def marks_of(house: House, store: Snapshot, user: str, asked: list[bytes]) -> set[bytes]:
    """What stands in the stores for somebody, and for nobody else."""
    session, tag = await house.device.session(user), screener_of(house.config("gateway")).user_tag(user).encode()
    found = {tag, session.prox_id.encode(), key_tag(session.key.public).encode(), session.key.public, *asked}
    found |= {evidence_key_name(prefix, session.prox_id).encode() for prefix in ("{gw}", "{ms}")}
    return found | set(store[b"{gw}:s:" + tag])


class Asked(defaultdict[str, list[bytes]]):
    """Sessions of what each person has asked."""

    async def ask(self, house: House, text: str, people: Sequence[str]) -> None:
        for user, answer in zip(
            people, await asyncio.gather(*(house.device.ask(user, text) for user in people)), strict=True
        ):
            self[user].append(answer.session)


async def test_nobody_elses_things_go(tmp_path: Path) -> None:
    source, asked = random.Random(7), Asked(list)
    people = [*PEOPLE, "main-service", "acme", *source.sample(WORDS, 3)]
    async with running(tmp_path, people=people) as house, stores(house) as clients:
        cut = (await house.device.session(PEOPLE[0])).prox_id[:-1]
        await enrol(house, cut)  # all of somebody's PROX_ID but a letter: one that is whole is no name
        people.append(cut)
        await house.consent(people=people)
        await asked.ask(house, "node1 question", people)
        await house.settle()
        await house.receive("acme")
        for victim in ("main-service", "acme", cut, people[10]):
            people.remove(victim)
            await asked.ask(house, f"node{len(people)} question", [victim, *source.sample(people, 5)])
            await asked.ask(house, f"node{len(people)}b waits", [victim, source.choice(people)])
            await house.settle()
            before = await look(clients)
            marks = await marks_of(house, before, victim, asked[victim])
            client = rights(house)
            await client.exercise(Right.ERASE, victim)
            await client.close()
            after = await look(clients)
            assert others(after) == without(before, marks)
            assert groups_with(before, marks) and not groups_with(after, marks)
            with pytest.raises(RefusedError) as refused:
                await house.device.ask(victim, "still there")
            assert refused.value.remote is Code.NOT_REGISTERED
        # Everybody else asks, is served and delivered to, and consents as before.
        await asked.ask(house, "nodelast question", people)
        await house.settle()
        got = await house.receive()
        await house.consent("nothing", people)
        named = {record.user for groups in got.values() for group in groups for record in group.records}
        assert len(named) >= 4 and named <= set(people)
        report = await house.audit()
    assert report.violations == [] and report.counts["gateway.ERASED"] == 4 and report.counts["dropped.erased"] >= 4
