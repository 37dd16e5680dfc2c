"""Erasure and objection reach who holds the data, and MS; both are seen by the audit."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.evidence.events import EventType
from proxid.protocol.notice import NoticeAck
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.provision.keyfile import load_signing_key
from tests.support.lies import Liar
from tests.support.trial import PARTIES, PEOPLE, Trial, running

ANN, OTHERS = PEOPLE[0], PEOPLE[1:]


def rights(trial: Trial) -> RightsClient:
    return RightsClient(load(DeviceConfig, trial.folder / "devices/household-1/device.toml"), trial.device)


def names(got: dict[str, list[Any]]) -> set[str]:
    return {record.user for groups in got.values() for group in groups for record in group.records}


async def test_parties_are_told_and_their_word_comes_back(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.device.consent(ANN, "everything")
        await trial.device.ask(ANN, "node0 question")
        await trial.settle()
        await trial.busy(1)
        client = rights(trial)
        before = await client.status(ANN)
        assert before["erasure"] == "none" and before["notices"] == []
        assert {(r["party"], r["name"]) for r in before["recipients"]} >= {("acme", ANN)}
        assert all(r["records"] >= 1 for r in before["recipients"])
        feeds = [tmp_path / f"parties/{party}/data/feed.jsonl" for party in PARTIES]
        assert any(ANN in feed.read_text() for feed in feeds)
        await client.exercise(Right.ERASE, ANN)
        told = await client.status(ANN)
        assert told["erasure"] == "done" and told["recipients"] == []  # the receipt does not wait for parties
        assert {n["party"] for n in told["notices"]} == {r["party"] for r in before["recipients"]}
        assert not any(n["acknowledged"] for n in told["notices"])
        await trial.receive()
        # What is under an alias goes out later, so that nobody sees whose it is; here it was the name.
        now = await client.status(ANN)
        for notice in now["notices"]:
            if notice["acknowledged"]:
                ack = NoticeAck.decode(base64.b64decode(notice["acknowledgement"]))
                ack.verify(load_signing_key(tmp_path / f"parties/{notice['party']}/signing.key").public)
        assert any(n["acknowledged"] and n["party"] == "acme" for n in now["notices"])
        lines = [json.loads(line) for line in feeds[0].read_text().splitlines()]
        assert [line["user"] for line in lines if "notice" in line] == [ANN]
        assert all(row["user"] != ANN for line in lines for row in line.get("records", []))
        await client.close()
        for state in (True, False):
            report = await trial.audit(state=state)
            assert report.violations == [] and report.counts["gateway.NOTICED"] >= 1


async def test_an_objection_alone_stops_release_and_delivery_until_resumed(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()
        await trial.device.ask(ANN, "node0 question")
        await trial.settle()
        await trial.ask("node0 question", OTHERS)  # groups in the feeds, one with her
        await trial.device.ask(ANN, "node7 waits at the main service")
        await trial.settle()
        client = rights(trial)
        await client.exercise(Right.OBJECT, ANN)
        await trial.device.ask(ANN, "node1 question")  # answered, not logged
        await trial.ask("node1 question", OTHERS)
        await trial.ask("node7 question", OTHERS)
        await trial.settle()
        got = await trial.receive()
        assert got["acme"] and ANN not in names(got)
        report = await trial.audit()
        assert report.violations == [] and report.counts["dropped.objected"] >= 1
        assert report.counts["withheld.withdrawn"] == 1
        await client.exercise(Right.RESUME, ANN)
        await client.close()
        await trial.device.ask(ANN, "node2 question")
        await trial.settle()
        await trial.ask("node2 question", OTHERS)
        await trial.settle()
        assert ANN in names(await trial.receive())
        assert (await trial.audit()).violations == []


async def test_an_erasure_that_the_main_service_never_carried_out_is_a_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        Liar(trial, monkeypatch).drops("main-service", EventType.ERASED)
        client = rights(trial)
        await client.exercise(Right.ERASE, ANN)
        await client.close()
        assert {v.rule for v in (await trial.audit()).violations} == {8}


async def test_a_group_that_vanishes_from_a_feed_is_a_violation(tmp_path: Path) -> None:
    from proxid.runtime.store import connect

    async with running(tmp_path) as trial:
        await trial.consent()
        await trial.ask("node0 question", OTHERS)
        await trial.settle()
        store: Any = connect(trial.url("gateway"))
        cursor = (await store.zrange("{gw}:f:acme", 0, 0))[0].decode()
        for key in ("f", "o"):
            await store.zrem(f"{{gw}}:{key}:acme", cursor)
        await store.delete(f"{{gw}}:g:acme:{cursor}")
        await store.aclose()
        client = rights(trial)
        await client.exercise(Right.ERASE, ANN)
        await client.close()
        for state in (True, True, False):  # what was found stays found
            assert {v.rule for v in (await trial.audit(state=state)).violations} == {8}
