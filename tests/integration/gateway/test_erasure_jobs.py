"""An erasure under way: who reads meanwhile accuses nobody, and the main service is told one PROX_ID of a person."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, call

import pytest
from redis.asyncio import Redis

from gateway import erasures
from gateway.erasures import Erasures
from main_service.rights import Subjects
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.protocol.epochs import Epochs
from proxid.protocol.rights import Right, RightsRequest
from tests.integration.gateway.test_erasure_index import rights
from tests.support.erased_scene import EPOCHS, Scene
from tests.support.trial import PEOPLE, running

ANN = PEOPLE[0]


async def test_an_audit_that_reads_in_the_middle_of_an_erasure_accuses_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go, honest = asyncio.Event(), asyncio.Event(), Subjects.erase

    async def slow(self: Subjects, prox_id: str, tag: bytes) -> None:
        asked.set()
        await go.wait()
        await honest(self, prox_id, tag)

    monkeypatch.setattr(Subjects, "erase", slow)
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.ask("node7 question", PEOPLE[:5])  # what waits in feeds goes at once
        await trial.settle()
        client = rights(trial)
        erasing = asyncio.create_task(client.exercise(Right.ERASE, ANN))
        await asked.wait()
        for state in (True, False, True):
            report = await trial.audit(state=state)
            assert report.violations == [] and report.counts["gateway.ERASED"] == 0
            assert report.counts["dropped.erased"] >= 1
        assert (await client.status(ANN))["erasure"] == "accepted"
        go.set()
        await erasing
        await client.close()
        for state in (True, False):
            report = await trial.audit(state=state)
            assert report.violations == [] and report.counts["gateway.ERASED"] == 1


@pytest.mark.parametrize("linked", [EPOCHS, EPOCHS[:1], EPOCHS[1:]], ids=["both", "older", "newer"])
async def test_at_an_epochs_start_the_main_service_is_told_one_of_two_prox_ids(
    client: Redis, monkeypatch: pytest.MonkeyPatch, linked: tuple[int, ...]
) -> None:
    for name in ("wait_logged", "rewrite_aof"):  # nobody writes evidence here
        monkeypatch.setattr(erasures, name, AsyncMock())
    scene, length = Scene(client, ["ann", "bob"], 1), 1_000
    await scene.open(linked)
    ann, now, own = scene.people[0], EPOCHS[1] * length + 5.0, SigningKey.generate()
    screener: Any = SimpleNamespace(
        clock=lambda: now, epochs=Epochs(length), service="main-service", key=own, party_keys={}, party_seals={},
        is_open=lambda _: False,
    )  # fmt: skip
    upstream, notices = AsyncMock(), SimpleNamespace(make=lambda *_: [])
    work = Erasures(screener, scene.gateway, upstream, OpeningKey.generate().public, notices)  # type: ignore[arg-type]
    to = ("main-service", own.public)
    asked = RightsRequest.make(Right.ERASE, "ann", SigningKey.generate(), to, int(now * 1000), bytes)
    upstream.erase.side_effect = [ConnectionError, None]
    await scene.rights.begin_erasure(ann.tag, asked.encode(), b"enrolment", ann.user_key)
    with pytest.raises(ConnectionError):  # whatever breaks: the next attempt names the same one
        await work.step()
    now += 2 * length
    assert await work.step() == 1 and await work.step() == 0
    told = call(ann.prox[linked[-1]], bytes.fromhex(ann.subjects[linked[-1]]))
    assert upstream.erase.await_args_list == [told, told]
