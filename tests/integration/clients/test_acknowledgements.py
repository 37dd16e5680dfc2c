"""A party's acknowledgements on its disk: complete through crashes, a witness against the services (DESIGN 10.4)."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from auditor.checks.c9_receipts import ACKNOWLEDGEMENT, read_receipts
from auditor.findings import RECEIPTS
from proxid.clients.subscriber.acknowledgements import FILE
from proxid.clients.subscriber.kept import read_groups
from proxid.clients.subscriber.subscriber import Subscriber
from proxid.protocol.receipt import DeliveryAck
from tests.support.trial import PEOPLE, Trial, run_command, running


class Crash(Exception):
    """The party's process ends."""


@pytest.fixture
async def trial(tmp_path: Path) -> AsyncIterator[Trial]:
    async with running(tmp_path) as found:
        await found.consent()
        await found.ask("node question")
        await found.settle()
        yield found


def acknowledged(trial: Trial, party: str = "acme") -> list[tuple[int, int]]:
    path = trial.folder / f"parties/{party}/data" / FILE
    found = [receipt for receipt in read_receipts(path) if receipt.kind == ACKNOWLEDGEMENT]
    acks = [DeliveryAck.decode(receipt.message) for receipt in found]
    return [(ack.epoch, ack.group) for ack in acks]


def kept(trial: Trial, party: str = "acme") -> list[tuple[int, int]]:
    groups = read_groups(trial.folder / f"parties/{party}/data/feed.jsonl")
    return [(group["epoch"], group["group"]) for group in groups]


async def crash(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    """Acme keeps a group and ends before it acknowledges."""

    async def end(*_: object) -> bool:
        raise Crash

    with monkeypatch.context() as changed, pytest.raises(Crash):
        changed.setattr(Subscriber, "_acknowledge", end)
        await trial.receive("acme")
    assert len(kept(trial)) == 1
    assert acknowledged(trial) == []


async def test_group_is_acknowledged_after_a_crash(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    await crash(trial, monkeypatch)
    await trial.receive("acme")
    assert acknowledged(trial) == kept(trial) != []
    assert len(set(kept(trial))) == len(kept(trial))
    assert (await trial.audit()).counts["pending"] == len(kept(trial, "acme"))  # globex has not come yet


async def test_group_that_lost_a_member_before_is_taken_back(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    await crash(trial, monkeypatch)
    first = kept(trial)
    async with asyncio.timeout(60):
        await trial.consent("nothing", PEOPLE)
        await trial.receive("acme")
    assert not set(first) & set(kept(trial))
    assert acknowledged(trial) == kept(trial)
    assert (await trial.audit()).violations == []


async def test_delivery_that_the_log_does_not_show_is_found(trial: Trial, tmp_path: Path) -> None:
    auditor, before = str(trial.folder / "auditor/auditor.toml"), str(tmp_path / "before")
    assert await run_command("audit", "--config", auditor, "--export", before) == 0
    await trial.receive()
    parties = [f"{trial.folder}/parties/{name}" for name in ("acme", "globex")]
    receipts = [word for party in parties for word in ("--receipts", party)]
    report = await trial.audit(receipts=[r for party in parties for r in read_receipts(Path(party))])
    assert report.violations == []
    assert report.checked[RECEIPTS] == 2 * (len(acknowledged(trial)) + len(acknowledged(trial, "globex"))) > 0
    offline = ("audit", "--config", auditor, "--no-pipeline", "--no-state", "--from", before)
    assert await run_command(*offline) == 0
    assert await run_command(*offline, *receipts) == 0  # they are younger than what was exported
    for party in parties:
        os.utime(f"{party}/data/{FILE}", (0, 0))
    assert await run_command(*offline, *receipts) == 1
