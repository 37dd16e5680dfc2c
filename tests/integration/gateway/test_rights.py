# ruff: noqa: ASYNC240
"""Rights against running services: what an erasure leaves, what access shows, what an objection stops."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from jsonschema import Draft202012Validator
from redis.asyncio import Redis

from auditor.checks.c9_receipts import read_receipts
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.errors import Code, RefusedError
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.evidence_log.retention import PayloadRetention
from proxid.runtime.evidence_log.segments import read_leaves
from proxid.runtime.store import connect
from tests.support.trial import PEOPLE, Trial, run_command, running

VICTIM = PEOPLE[3]
TEXT = "nodevictim planted-words-of-the-victim"


def rights(trial: Trial) -> RightsClient:
    return RightsClient(load(DeviceConfig, trial.folder / "devices/household-1/device.toml"), trial.device)


def named(groups: dict[str, list[Any]]) -> set[str]:
    """Who is published in what parties got."""
    return {record.user for some in groups.values() for group in some for record in group.records}


async def dump(client: Redis) -> bytes:
    """Every key and value of a store."""
    found: list[Any] = []
    readers: dict[bytes, Any] = {
        b"string": client.get, b"hash": client.hgetall, b"set": client.smembers,
        b"zset": lambda k: client.zrange(k, 0, -1), b"list": lambda k: client.lrange(k, 0, -1),
        b"stream": client.xrange,
    }  # fmt: skip
    async for key in client.scan_iter():
        found += [key, await readers[await client.type(key)](key)]
    return b"\n".join(flatten(found))


def flatten(item: Any) -> list[bytes]:
    if isinstance(item, bytes):
        return [item]
    if isinstance(item, dict):
        return [part for pair in item.items() for side in pair for part in flatten(side)]
    if isinstance(item, list | tuple | set):
        return [part for side in item for part in flatten(side)]
    return []


async def traces(trial: Trial, needles: list[bytes]) -> list[str]:
    """Where something is found: both stores by every key, and every file of both services."""
    places = {}
    for role in ("gateway", "main-service"):
        client = connect(trial.url(role))
        places[f"{role} store"] = await dump(client)
        await client.aclose()
        for path in (trial.folder / role / "data").rglob("*"):
            if path.is_file():
                places[str(path.relative_to(trial.folder))] = path.read_bytes()
    return [f"{needle!r} in {name}" for name, data in places.items() for needle in needles if needle in data]


async def test_after_an_erasure_nothing_of_the_person_is_left(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.device.ask(VICTIM, TEXT)  # waits alone
        await trial.ask("node5 question", PEOPLE[:5])  # a group that is not delivered yet
        await trial.settle()
        session = await trial.device.session(VICTIM)
        before = await trial.audit(state=True)
        assert before.violations == []
        needles = [VICTIM.encode(), session.prox_id.encode(), session.key.public, session.user.key.public,
                   b"planted-words-of-the-victim"]  # fmt: skip
        assert len(await traces(trial, needles)) >= 5
        client = rights(trial)
        receipt, _ = await client.exercise(Right.ERASE, VICTIM)
        assert await traces(trial, needles) == []
        again, _ = await client.exercise(Right.ERASE, VICTIM)
        assert again == receipt
        with pytest.raises(RefusedError) as refused:
            await trial.device.ask(VICTIM, "node1 still there")
        assert refused.value.remote is Code.NOT_REGISTERED
        others = [user for user in PEOPLE if user != VICTIM]
        await trial.ask("node6 question", others)
        await trial.settle()
        got = await trial.receive()
        assert set(others) >= named(got) != set()
        presented = list(read_receipts(tmp_path / "devices/household-1/data"))
        for state in (True, False):  # going on from the audit before, and from the beginning
            report = await trial.audit(state=state, receipts=presented)
            assert report.violations == []
            assert report.counts["gateway.ERASED"] == report.counts["rights.erase"] == 1
            # Read before the erasure, a choice stays in the timeline; read after it, it is counted as left out.
            assert report.counts["consents.unreadable"] == (0 if state else 1)
        assert report.counts["parts.erased"] > 0 and report.counts["groups.partly_erased"] >= 1
        assert report.counts["dropped.erased"] + report.counts["dropped.no_consent"] >= 1
        assert report.checked[8] == 8 and report.checked[9] == len(presented)
        await client.close()
    output = "".join(capfd.readouterr())
    assert output and not any(needle.decode() in output for needle in needles if needle.isascii())


async def test_access_shows_what_both_services_hold_by_the_schema(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.device.ask(VICTIM, TEXT)
        await trial.settle()
        client = rights(trial)
        document = await client.access(VICTIM)
        await client.close()
        report = await trial.audit(receipts=list(read_receipts(tmp_path / "devices/household-1/data")))
    schema = json.loads(Path("proxid/clients/household/personal-data.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)
    assert document["main_service"]["waiting"][0]["utterance"] == TEXT
    assert document["main_service"]["bundle"] == "everything"
    shown = document["identity_screener"]
    assert {d["party"] for d in shown["deliveries"]} == {"acme", "globex"}
    assert all(d["acknowledged"] and d["time"] for d in shown["deliveries"])
    assert {g["party"] for g in shown["epochs"][0]["grants"]} == {"acme", "globex"}
    # Somebody else's text was published under the user's name: it is not theirs to see.
    assert "node0 question" not in json.dumps(shown)
    assert report.violations == [] and report.counts["withheld.access"] == report.counts["rights.access"] == 1
    assert report.counts["rights.withdrawal"] == 0 and report.counts["rights.consent"] == len(PEOPLE)


async def test_an_objection_withdraws_and_stays(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()
        client = rights(trial)
        await client.exercise(Right.OBJECT, VICTIM)
        await trial.device.consent(VICTIM, "nothing")
        with pytest.raises(RefusedError):
            await trial.device.consent(VICTIM, "everything")
        await trial.ask("node0 question")
        await trial.settle()
        got = await trial.receive()
        assert got["acme"] and VICTIM not in named(got)
        await client.exercise(Right.RESUME, VICTIM)
        await trial.device.consent(VICTIM, "everything")
        await client.close()
        report = await trial.audit(receipts=list(read_receipts(tmp_path / "devices/household-1/data")))
    assert report.violations == [] and report.counts["gateway.OBJECTED"] == 2
    assert report.counts["rights.object"] == report.counts["rights.resume"] == report.counts["rights.withdrawal"] == 1
    assert report.counts["rights.consent"] == len(PEOPLE) + 2


async def test_a_right_is_its_owners_alone(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()
        client = rights(trial)
        users = client._users
        users[VICTIM].key = users[PEOPLE[0]].key  # signed by somebody else
        for right in Right:
            with pytest.raises(RefusedError) as refused:
                await client.exercise(right, VICTIM)
            assert refused.value.remote is Code.SIGNATURE_INVALID
        await client.close()
        assert (await trial.audit()).violations == []


def newest_with_payloads(segments: Path) -> Path:
    """The newest segment in which something can be missing: EXPIRED has no payload, and may stand in one alone."""
    for folder in sorted(segments.iterdir(), reverse=True):
        first = int(folder.name)
        leaves = read_leaves(segments, first, first + (folder / "index").stat().st_size // 16)
        if any(part for leaf in leaves for part in leaf.parts):
            return folder
    raise AssertionError("nothing has payloads")


async def test_payloads_expire_by_an_event_and_headers_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for service in ("GATEWAY", "MAIN_SERVICE"):
        monkeypatch.setenv(f"PROXID_{service}__RETENTION__PAYLOADS", "2 s")
    monkeypatch.setenv("PROXID_AUDITOR__FLOORS__PAYLOADS", "0")
    first = "data/evidence/segments/000000000001"
    async with running(tmp_path) as trial:
        await trial.busy(1)
        assert (await trial.audit(state=True)).violations == []
        async with asyncio.timeout(30):
            turn = 0
            while any((tmp_path / role / first / "parts").exists() for role in ("gateway", "main-service")):
                await asyncio.sleep(0.7)
                turn += 1
                await trial.ask(f"node{turn} question", PEOPLE[:4])
        assert all((tmp_path / role / first / "leaves").exists() for role in ("gateway", "main-service"))
        await trial.settle()
        for state in (True, False):
            report = await trial.audit(state=state)
            assert report.violations == []
        assert report.counts["gateway.EXPIRED"] >= 1 and report.counts["events.unreadable"] > 0
        # Somebody who deletes payloads and does not say so is found out; nothing says so from here on.
        monkeypatch.setattr(PayloadRetention, "step", AsyncMock(return_value=0))
        await trial.ask("nodelast question", PEOPLE[:4])
        assert (await trial.audit()).violations == []  # its heads cover what was asked
        segments = tmp_path / "gateway/data/evidence/segments"
        (newest_with_payloads(segments) / "parts").unlink()
        assert {v.rule for v in (await trial.audit()).violations} == {2}


async def test_rights_from_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = ["--config", str(tmp_path / "devices/household-1/device.toml"), "-u", VICTIM]

    async def rights_of(name: str, *arguments: str) -> tuple[int, dict[str, Any]]:
        capfd.readouterr()
        status = await run_command("device", "rights", name, *config, "--json", *arguments)
        lines = capfd.readouterr().out.splitlines()
        return status, json.loads(lines[-1]) if status == 0 else {}

    async with running(tmp_path) as trial:
        await trial.busy(1)
        status, document = await rights_of("access")
        assert status == 0 and document["user_id"] == VICTIM
        status, _ = await rights_of("access", "-o", str(tmp_path / "mine.json"))
        assert status == 0 and json.loads((tmp_path / "mine.json").read_text())["schema"] == document["schema"]
        assert (await rights_of("object"))[1]["right"] == "object"
        objecting = (await rights_of("status"))[1]
        assert objecting["objects"] and abs(objecting["objects_since"] - time.time()) < 600
        next(tmp_path.glob("devices/household-1/data/users/*/objection")).unlink()  # restored from before
        assert (await rights_of("status"))[1]["objects_since"] == 0
        assert (await rights_of("object", "--resume"))[1]["right"] == "resume"
        resumed = (await rights_of("status"))[1]
        assert not resumed["objects"] and resumed["objects_since"] is None
        assert (await rights_of("erase", "--yes"))[1]["right"] == "erase"
        assert (await rights_of("access"))[0] == 2
        report = await trial.audit(receipts=list(read_receipts(tmp_path / "devices/household-1/data")))
    assert report.violations == []
