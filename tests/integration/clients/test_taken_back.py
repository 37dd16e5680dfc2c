"""What a party has kept and not acknowledged when somebody withdraws: by form, what it holds then (DESIGN 8.11, 9)."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from auditor.checks.c9_receipts import read_receipts
from auditor.findings import RECEIPTS
from proxid.clients.subscriber.acknowledgements import Acknowledgements
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.kept import read_groups
from proxid.clients.subscriber.ledger import Kept
from proxid.clients.subscriber.subscriber import Subscriber, open_subscriber
from proxid.protocol.record import kind_and_number
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from tests.integration.clients.test_acknowledgements import Crash, acknowledged, kept
from tests.support.split_house import NODES, House, clean, contents, entries, house, served
from tests.support.trial import PEOPLE, Trial, running

LEFT = Counter({person: len(NODES) + 2 * (person in PEOPLE[:2]) + (person == PEOPLE[2]) for person in PEOPLE[1:]})
"""Entries of everybody but the first person after `House.evening`."""


async def ends(trial: Trial, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Acme keeps something of a kind and ends before it acknowledges."""
    real = Subscriber._acknowledge

    async def end(subscriber: Subscriber, one: Kept) -> bool:
        if kind_and_number(one.id.group)[0] == kind:
            raise Crash
        return await real(subscriber, one)

    with monkeypatch.context() as changed, pytest.raises(Crash):
        changed.setattr(Subscriber, "_acknowledge", end)
        await trial.receive("acme")
    assert kind_and_number(kept(trial)[-1][1])[0] == kind
    assert kept(trial)[-1] not in acknowledged(trial)


def feed(trial: Trial) -> Path:
    return trial.folder / "parties/acme/data/feed.jsonl"


def people(trial: Trial) -> Counter[str]:
    """Records by name in what acme holds."""
    return Counter(row["user"] for group in read_groups(feed(trial)) for row in group["records"])


async def nothing_pends(trial: Trial) -> None:
    assert sorted(acknowledged(trial)) == sorted(kept(trial))
    await trial.receive("globex")
    report = await trial.audit()
    clean(report)
    assert report.counts["pending"] == 0


async def closed(trial: House) -> None:
    await trial.evening()
    await trial.close()
    await served(trial)


async def test_a_cut_portion_comes_again_after_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody's entries once, and nothing of who withdrew, not even in the file."""
    async with house(tmp_path, content="none") as trial:
        await closed(trial)
        await ends(trial, monkeypatch, "entries")
        assert people(trial)[PEOPLE[0]]
        await trial.consent("nothing", PEOPLE[:1])
        got = await trial.receive("acme")
        assert entries(got["acme"]) == LEFT.total()
        assert people(trial) == LEFT
        assert PEOPLE[0] not in feed(trial).read_text()
        assert (await trial.receive("acme"))["acme"] == []
        await nothing_pends(trial)


async def test_a_cut_portion_comes_again_to_a_party_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It acknowledges only after its stream was closed, because somebody withdrew."""
    got: list[Any] = []
    came, gone = asyncio.Event(), asyncio.Event()
    real = Subscriber._acknowledge

    async def late(subscriber: Subscriber, one: Kept) -> bool:
        came.set()
        await gone.wait()
        return await real(subscriber, one)

    async def follow(subscriber: Subscriber) -> None:
        async for group in subscriber.groups(True):
            got.append(group)

    async with house(tmp_path, content="none") as trial, AsyncExitStack() as stack:
        await closed(trial)
        monkeypatch.setattr(Subscriber, "_acknowledge", late)
        config = load(PartyConfig, tmp_path / "parties/acme/party.toml")
        subscriber = await stack.enter_async_context(open_subscriber(config))
        following = asyncio.create_task(follow(subscriber))
        await came.wait()
        await trial.consent("nothing", PEOPLE[:1])
        gone.set()
        async with asyncio.timeout(60):
            while not entries(got):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        following.cancel()
        assert (entries(got), subscriber.counts.withdrawn) == (LEFT.total(), 1)
        assert people(trial) == LEFT
        await nothing_pends(trial)


async def test_an_acknowledgement_that_nobody_heard_of_before_an_erasure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gateway has it, and the party does not know: it is told, and the notice takes the entries out."""

    def end(*_: object) -> None:
        raise Crash

    async with house(tmp_path, content="none") as trial:
        await closed(trial)
        with monkeypatch.context() as changed, pytest.raises(Crash):
            changed.setattr(Acknowledgements, "add", end)
            await trial.receive("acme")
        await trial.exercise(Right.ERASE, PEOPLE[0])
        await trial.receive()
        assert people(trial) == LEFT
        assert acknowledged(trial) == kept(trial)
        receipts = list(read_receipts(tmp_path / "parties"))
        report = await trial.audit(receipts=receipts)
        assert (report.violations, report.counts["pending"]) == ([], 0)
        assert report.checked[RECEIPTS] == len(receipts) == 4, "the promise is heard the second time"


async def test_contents_that_were_kept_are_acknowledged_although_somebody_withdrew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They name nobody, and had left before."""
    async with house(tmp_path) as trial:
        await closed(trial)
        await ends(trial, monkeypatch, "contents")
        await trial.consent("nothing", PEOPLE[:1])
        assert (await trial.receive("acme"))["acme"] == []
        assert len([group for group in read_groups(feed(trial)) if "contents" in group]) == 1
        assert people(trial)[PEOPLE[0]], "the portion was acknowledged before"
        assert not contents((await trial.receive("globex"))["globex"])
        await nothing_pends(trial)


async def test_a_group_of_form_pairs_that_was_kept_is_taken_back_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For good, since whoever is published in it may own another's text; not even in the file."""
    async with running(tmp_path) as trial:
        await trial.consent()
        await trial.ask("node question")
        await trial.settle()
        await ends(trial, monkeypatch, "general")
        (first,), (member, *others) = kept(trial), people(trial)
        assert others
        await trial.consent("nothing", [member])
        for _ in range(2):
            await trial.receive("acme")
        assert first not in kept(trial)
        assert member not in feed(trial).read_text()
        await nothing_pends(trial)
