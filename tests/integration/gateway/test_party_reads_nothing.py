"""A party that takes nothing of what is written to it holds up nobody's rights: its stream ends; the rest goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from proxid.clients.subscriber.config import PartyConfig
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.transport.channel import TlsFiles
from proxid.wire.v1.gateway_pb2 import SubscribeRequest
from proxid.wire.v1.gateway_pb2_grpc import FeedStub
from tests.integration.gateway.test_erasure_index import rights
from tests.support.trial import PEOPLE, Trial, running

# No more of a stream than a few bytes is taken before the application reads.
_STINGY = [("grpc.http2.lookahead_bytes", 4), ("grpc.http2.bdp_probe", 0), ("grpc.ssl_target_name_override", "gateway")]


@asynccontextmanager
async def reads_nothing(trial: Trial, party: str) -> AsyncIterator[Any]:
    """A stream of a party's feed that is open, and on which a first group is under way."""
    config = load(PartyConfig, trial.folder / f"parties/{party}/party.toml")
    key, certificate, authority = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca).read()
    credentials = grpc.ssl_channel_credentials(authority, key, certificate)
    async with grpc.aio.secure_channel(config.gateway, credentials, options=_STINGY) as channel:
        call: Any = FeedStub(channel).Subscribe(SubscribeRequest(follow=True))
        await call.initial_metadata()
        yield call


@pytest.fixture
async def trial(tmp_path: Path) -> AsyncIterator[Trial]:
    async with running(tmp_path) as found:
        await found.consent()
        for i in range(12):
            await found.ask(f"node{i} question")
        await found.settle()
        yield found


async def test_everybodys_erasure_ends(trial: Trial) -> None:
    client = rights(trial)
    async with reads_nothing(trial, "acme"), asyncio.timeout(40):
        await asyncio.gather(*(client.exercise(Right.ERASE, user) for user in PEOPLE[:2]))
    await client.close()
    await trial.receive()
    report = await trial.audit()
    assert report.violations == [] and report.counts["gateway.ERASED"] == 2


async def test_who_read_a_part_and_went_away_holds_up_no_erasure(trial: Trial) -> None:
    client = rights(trial)
    async with reads_nothing(trial, "acme") as call:
        assert (await call.read()).cursor == 1
    async with asyncio.timeout(40):
        await client.exercise(Right.ERASE, PEOPLE[0])
    await client.close()
    await trial.receive()
    assert (await trial.audit()).violations == []


async def test_a_consent_is_taken_back(trial: Trial) -> None:
    async with reads_nothing(trial, "acme"), asyncio.timeout(40):
        await trial.consent("nothing", PEOPLE[:1])
    await trial.receive()
    assert (await trial.audit()).violations == []
