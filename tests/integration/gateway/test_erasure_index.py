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

from gateway.identity import key_tag
from gateway.server import screener_of
from proxid.clients.household import enrolment
from proxid.clients.household.config import DeviceConfig, EnrolmentAuthorityConfig
from proxid.clients.household.household import Household
from proxid.clients.household.rights import RightsClient
from proxid.clients.household.state import HouseholdState
from proxid.errors import Code, RefusedError
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.evidence_log.writer import evidence_key_name
from proxid.runtime.store import connect
from tests.support.erased import Snapshot, groups_with, others, snapshot, without
from tests.support.trial import PEOPLE, Trial, running

WORDS = (
    "gateway", "globex", "general", "location", "command", "alias", "user_id", "erased", "person", "person-", "px1",
    "node", "everything", "a", "0", "{gw}", "|", ":", "k:", "acme|general", "proxid", "cred", "link", "7/1/acme",
)  # fmt: skip
"""Words of the protocol, parts of other people's names, what keys are made of."""


def rights(trial: Trial) -> RightsClient:
    return RightsClient(load(DeviceConfig, trial.folder / "devices/household-1/device.toml"), trial.device)


async def enrol(trial: Trial, *names: str) -> None:
    """More people in the household."""
    authority = load(EnrolmentAuthorityConfig, trial.folder / "ea/ea.toml")
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    state, since = HouseholdState(config.data_dir), datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=30)
    issued = enrolment.issue(authority, enrolment.make_request(state, names), int(since.timestamp()))
    assert config.trust.enrolment_authority is not None
    enrolment.accept(state, issued, config.trust.enrolment_authority)
    await trial.device.close()
    trial.device = Household.open(config)


@asynccontextmanager
async def stores(trial: Trial) -> AsyncIterator[list[Redis]]:
    """Clients of both services' stores."""
    clients = [connect(trial.url(role)) for role in ("gateway", "main-service")]
    yield clients
    for client in clients:
        await client.aclose()


async def look(clients: list[Redis]) -> Snapshot:
    """Both stores as one."""
    return {key: value for client in clients for key, value in (await snapshot(client)).items()}


async def marks_of(trial: Trial, store: Snapshot, user: str, asked: list[bytes]) -> set[bytes]:
    """What stands in the stores for somebody, and for nobody else."""
    session, tag = await trial.device.session(user), screener_of(trial.config("gateway")).user_tag(user).encode()
    found = {tag, session.prox_id.encode(), key_tag(session.key.public).encode(), session.key.public, *asked}
    found |= {evidence_key_name(prefix, session.prox_id).encode() for prefix in ("{gw}", "{ms}")}
    return found | set(store[b"{gw}:s:" + tag])


class Asked(defaultdict[str, list[bytes]]):
    """Sessions of what each person has asked."""

    async def ask(self, trial: Trial, text: str, people: Sequence[str]) -> None:
        for user, answer in zip(
            people, await asyncio.gather(*(trial.device.ask(user, text) for user in people)), strict=True
        ):
            self[user].append(answer.session)


@pytest.mark.slow
async def test_nobody_elses_things_go(tmp_path: Path) -> None:
    source, asked = random.Random(7), Asked(list)
    people = [*PEOPLE, "main-service", "acme", *source.sample(WORDS, 3)]
    async with running(tmp_path, people=people) as trial, stores(trial) as clients:
        cut = (await trial.device.session(PEOPLE[0])).prox_id[:-1]
        await enrol(trial, cut)  # all of somebody's PROX_ID but a letter: one that is whole is no name
        people.append(cut)
        await trial.consent(people=people)
        await asked.ask(trial, "node1 question", people)
        await trial.settle()
        await trial.receive("acme")
        for victim in ("main-service", "acme", cut, people[10]):
            people.remove(victim)
            await asked.ask(trial, f"node{len(people)} question", [victim, *source.sample(people, 5)])
            await asked.ask(trial, f"node{len(people)}b waits", [victim, source.choice(people)])
            await trial.settle()
            before = await look(clients)
            marks = await marks_of(trial, before, victim, asked[victim])
            client = rights(trial)
            await client.exercise(Right.ERASE, victim)
            await client.close()
            after = await look(clients)
            assert others(after) == without(before, marks)
            assert groups_with(before, marks) and not groups_with(after, marks)
            with pytest.raises(RefusedError) as refused:
                await trial.device.ask(victim, "still there")
            assert refused.value.remote is Code.NOT_REGISTERED
        # Everybody else asks, is served and delivered to, and consents as before.
        await asked.ask(trial, "nodelast question", people)
        await trial.settle()
        got = await trial.receive()
        await trial.consent("nothing", people)
        named = {record.user for groups in got.values() for group in groups for record in group.records}
        assert len(named) >= 4 and named <= set(people)
        report = await trial.audit()
    assert report.violations == [] and report.counts["gateway.ERASED"] == 4 and report.counts["dropped.erased"] >= 4
