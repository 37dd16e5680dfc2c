"""A party's acknowledgements on its disk: complete through crashes, a witness against the services (DESIGN 10.4)."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from auditor.receipts import read_receipts
from auditor.report import RECEIPTS
from proxid.party.acknowledgements import FILE
from proxid.party.ledger import read_groups
from proxid.party.subscriber import Subscriber
from proxid.protocol.receipt import DeliveryAck
from tests.support.house import PEOPLE, House, run_command, running


class Crash(Exception):
    """The party's process ends."""


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with running(tmp_path) as found:
        await found.consent()
        await found.ask("node question")
        await found.settle()
        yield found


def acknowledged(house: House, party: str = "acme") -> list[tuple[int, int]]:
    path = house.folder / f"parties/{party}/data" / FILE
    acks = [DeliveryAck.decode(receipt.message) for receipt in read_receipts(path)]
    return [(ack.epoch, ack.group) for ack in acks]


def kept(house: House, party: str = "acme") -> list[tuple[int, int]]:
    groups = read_groups(house.folder / f"parties/{party}/data/feed.jsonl")
    return [(group["epoch"], group["group"]) for group in groups]


async def crash(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Acme keeps a group and ends before it acknowledges."""

    async def end(*_: object) -> bool:
        raise Crash

    with monkeypatch.context() as changed, pytest.raises(Crash):
        changed.setattr(Subscriber, "_acknowledge", end)
        await house.receive("acme")
    assert len(kept(house)) == 1
    assert acknowledged(house) == []


async def test_group_is_acknowledged_after_a_crash(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    await crash(house, monkeypatch)
    await house.receive("acme")
    assert acknowledged(house) == kept(house) != []
    assert len(set(kept(house))) == len(kept(house))
    assert (await house.audit()).counts["pending"] == len(kept(house, "acme"))  # globex has not come yet


async def test_group_that_lost_a_member_before_is_taken_back(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    await crash(house, monkeypatch)
    first = kept(house)
    async with asyncio.timeout(60):
        await house.consent("nothing", PEOPLE)
        await house.receive("acme")
    assert not set(first) & set(kept(house))
    assert acknowledged(house) == kept(house)
    assert (await house.audit()).violations == []


async def test_delivery_that_the_log_does_not_show_is_found(house: House, tmp_path: Path) -> None:
    auditor, before = str(house.folder / "auditor/auditor.toml"), str(tmp_path / "before")
    assert await run_command("audit", "--config", auditor, "--export", before) == 0
    await house.receive()
    parties = [f"{house.folder}/parties/{name}" for name in ("acme", "globex")]
    receipts = [word for party in parties for word in ("--receipts", party)]
    report = await house.audit(receipts=[r for party in parties for r in read_receipts(Path(party))])
    assert report.violations == []
    assert report.checked[RECEIPTS] == len(acknowledged(house)) + len(acknowledged(house, "globex")) > 0
    offline = ("audit", "--config", auditor, "--no-pipeline", "--no-state", "--from", before)
    assert await run_command(*offline) == 0
    assert await run_command(*offline, *receipts) == 0  # they are younger than what was exported
    for party in parties:
        os.utime(f"{party}/data/{FILE}", (0, 0))
    assert await run_command(*offline, *receipts) == 1
