"""Form `split` by real services: entries, contents, withdrawals, erasures, all clean (DESIGN 8.11)."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from gateway.store.library import GatewayStore
from proxid.clients.household.told import sent_of
from proxid.clients.household.words import words_in
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.profiles import read_profiles
from proxid.clients.subscriber.subscriber import open_subscriber
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.store import connect
from tests.support.split_house import NODES, House, begun, clean, contents, entries, house, released, served
from tests.support.trial import PARTIES, PEOPLE, running


@pytest.mark.parametrize("stored", [False, True])
async def test_an_honest_evening(tmp_path: Path, stored: bool) -> None:
    """Both parties get every entry and the same contents; the audit repeats them, also from what it stores."""
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.close()
        got = await trial.receive()
        asked = len(NODES) * len(PEOPLE) + 5
        assert [entries(got[party]) for party in PARTIES] == [asked, asked]
        truth = {
            person: {f"Home/{node}": 1 + (person in again.get(node, ())) for node in NODES}
            for again in ({"news": PEOPLE[:3], "travel": PEOPLE[:2]},)
            for person in PEOPLE
        }
        for party in PARTIES:
            assert read_profiles(trial.folder / f"parties/{party}/data") == truth, "what each asked at each node"
        (acme,), (globex,) = (contents(got[party]) for party in PARTIES)
        assert acme == globex
        assert acme.withheld == 5, "four people are a round"
        assert sum(row.records for row in acme.rows) == asked - 5
        report = await trial.audit(stored=stored)
        clean(report)
        assert report.counts["entries"] == asked
        assert report.counts["released"] == asked


async def test_without_contents(tmp_path: Path) -> None:
    async with house(tmp_path, content="none") as trial:
        await trial.evening()
        await trial.close()
        got = await trial.receive()
        assert not contents(got["acme"])
        assert entries(got["acme"])
        clean(await trial.audit())


async def test_too_few_nodes_say_nothing(tmp_path: Path) -> None:
    async with house(tmp_path) as trial:
        await trial.consent()
        for node in NODES[:2]:
            await trial.ask(f"{node} of today")
        await trial.settle()
        await trial.close()
        report = await trial.audit()
        clean(report)
        assert report.counts["withheld.tick_uniform"] == 2 * len(PEOPLE)
        assert report.counts["released"] == 0


async def test_a_withdrawal_before_the_close(tmp_path: Path) -> None:
    """Nothing of the person waits any more, and nobody else loses anything."""
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.consent("nothing", PEOPLE[:1])
        await trial.close()
        got = await trial.receive()
        assert entries(got["acme"]) == len(NODES) * (len(PEOPLE) - 1) + 3
        assert len(contents(got["acme"])) == 1
        clean(await trial.audit())


@pytest.mark.parametrize("stored", [False, True])
async def test_a_withdrawal_just_after_the_epoch(tmp_path: Path, stored: bool) -> None:
    """Nothing of the epoch that names the person or may show what they asked is delivered, though it had waited."""
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.close()
        await served(trial)
        await trial.consent("nothing", PEOPLE[:1])
        got = await trial.receive()
        assert entries(got["acme"]) == len(NODES) * (len(PEOPLE) - 1) + 3
        assert not contents(got["acme"])
        clean(await trial.audit(stored=stored))


async def until_a_tick(trial: House, options: dict[str, Any]) -> None:
    """An evening, of whose entries some have left."""
    await trial.evening()
    for clock in trial.clocks.values():
        clock.passed += options["epoch_seconds"] // 4
    await released(trial)
    await served(trial)


@pytest.mark.parametrize("stored", [False, True])
async def test_a_withdrawal_after_a_tick(tmp_path: Path, stored: bool) -> None:
    """What had left is delivered as far as its person still consents, and stands in no round; the rest follows."""
    options = begun()
    async with house(tmp_path, **options) as trial:
        await until_a_tick(trial, options)
        await trial.consent("nothing", PEOPLE[:1])
        await trial.ask("health once more", PEOPLE[1:])
        await trial.settle()
        await trial.close()
        got = await trial.receive()
        first = len(NODES) * (len(PEOPLE) - 1) + 3
        assert entries(got["acme"]) == first, "at the close one node was left, and would have said itself"
        (shown,) = contents(got["acme"])
        assert sum(row.records for row in shown.rows) + shown.withheld == first
        report = await trial.audit(stored=stored)
        clean(report)
        assert report.counts["main-service.TICKED"] >= 2
        assert report.counts["withheld.tick_uniform"] == len(PEOPLE) - 1


async def test_an_erasure_between_close_and_delivery(tmp_path: Path) -> None:
    """Of what no party had fetched the person's own entries go, and the contents whole; the others' entries stay."""
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.close()
        await trial.exercise(Right.ERASE, PEOPLE[0])
        got = await trial.receive()
        assert entries(got["acme"]) == len(NODES) * (len(PEOPLE) - 1) + 3
        assert contents(got["acme"]) == []
        report = await trial.audit()
        assert not report.violations
        assert report.counts["dropped"] == len(PARTIES)


async def test_an_erasure_after_delivery(tmp_path: Path) -> None:
    """Who had fetched it keeps it, and is told; who had not gets no contents any more."""
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.close()
        got = await trial.receive("acme")
        assert len(contents(got["acme"])) == 1
        await trial.exercise(Right.ERASE, PEOPLE[0])
        assert contents((await trial.receive("globex"))["globex"]) == []
        assert not (await trial.audit()).violations


async def test_an_objection_takes_contents_back(tmp_path: Path) -> None:
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.close()
        await trial.exercise(Right.OBJECT, PEOPLE[1])
        got = await trial.receive("acme")
        assert contents(got["acme"]) == []
        assert entries(got["acme"]) == len(NODES) * (len(PEOPLE) - 1) + 3
        clean(await trial.audit())


async def test_an_objection_between_two_portions_takes_no_others_entries_back(tmp_path: Path) -> None:
    """A party that has an entry of who objects gets what the others asked since; that is no violation."""
    options = begun()
    async with house(tmp_path, **options) as trial:
        await until_a_tick(trial, options)
        before = entries((await trial.receive("acme"))["acme"])
        for node in NODES:
            await trial.ask(f"{node} once more", PEOPLE[:6])
        await trial.settle()
        await trial.close()
        await trial.exercise(Right.OBJECT, PEOPLE[7])
        got = await trial.receive("acme")
        assert before and entries(got["acme"]) == 6 * len(NODES) and not contents(got["acme"])
        clean(await trial.audit())


@pytest.mark.parametrize("form", ["split", "pairs"])
@pytest.mark.parametrize("right", [Right.OBJECT, Right.ERASE])
async def test_what_goes_by_a_right_is_no_withdrawal_of_the_services(tmp_path: Path, form: str, right: Right) -> None:
    """Somebody objects or is erased while records of theirs wait; a later epoch has begun when it is audited."""
    async with house(tmp_path, form=form) as trial:
        await trial.consent()
        await trial.ask("news of today", PEOPLE[:2])
        await trial.settle()
        await trial.exercise(right, PEOPLE[0])
        await trial.close()
        await served(trial)
        report = await trial.audit()
        clean(report)
        assert report.counts["main-service.WITHDRAWN"] == 1


@pytest.mark.parametrize("closed", [False, True])
async def test_an_account_that_withdraws_just_after_each_epoch_denies_a_connected_party_nothing(
    tmp_path: Path, closed: bool
) -> None:
    """Before or after the close; a day later it consents again. Its own entries go, nobody else's, and no contents."""
    got: list[Any] = []

    async def follow(subscriber: Any) -> None:
        async for group in subscriber.groups(True):
            got.append(group)

    async with house(tmp_path) as trial, AsyncExitStack() as stack:
        config = load(PartyConfig, tmp_path / "parties/acme/party.toml")
        following = asyncio.create_task(follow(await stack.enter_async_context(open_subscriber(config))))
        for day in (1, 2):
            await trial.evening()
            trial.leap(310 if closed else 1)
            if closed:
                await trial.over()
                await delivered(got, day)
            await served(trial)
            await trial.consent("nothing", PEOPLE[:1])
            if closed:
                acme, *_ = trial.device.sent_before(PEOPLE[0])
                assert sent_of(acme, words_in("en")) == (
                    f"acme had been sent {day * 5} records under your name or alias and {day} messages without names "
                    "that yours may be among; that stays with it."
                )
            if not closed:
                for clock in trial.clocks.values():
                    clock.passed += 310
                await trial.over()
                await delivered(got, day)
            await served(trial)
        following.cancel()
        asked = len(NODES) * len(PEOPLE) + 5
        assert entries(got) == 2 * (asked if closed else asked - len(NODES) - 2)
        assert len(contents(got)) == 2
        report = await trial.audit()
        clean(report)


async def delivered(got: list[Any], many: int) -> None:
    async with asyncio.timeout(60):
        while len(contents(got)) < many:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_contents_that_wait_too_long_are_not_sent(tmp_path: Path) -> None:
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.close()
        gateway = connect(trial.url("gateway"))
        try:
            store = GatewayStore(gateway)
            assert await store.drop_late(PARTIES, trial.clocks["gateway"].wall() + 86_000) == 0
            assert await store.drop_late(PARTIES, trial.clocks["gateway"].wall() + 86_500) == len(PARTIES)
        finally:
            await gateway.aclose()
        got = await trial.receive("acme")
        assert contents(got["acme"]) == []
        assert entries(got["acme"])
        report = await trial.audit()
        assert [reason.text for reason in report.reasons if "as late when it was not yet" in reason.text], report
        trial.clocks["device"].passed += 86_600  # the audit's
        clean(await trial.audit())


async def test_unseasoned_people_are_answered_and_never_released(tmp_path: Path) -> None:
    options = {"form": "split", "level": 2, "bucket": "1 d"}
    async with running(tmp_path, House, anonymiser=options, season_days=60) as trial:
        assert isinstance(trial, House)
        await trial.evening()
        await trial.close()
        report = await trial.audit()
        clean(report)
        assert report.counts["withheld.unseasoned"] == len(NODES) * len(PEOPLE) + 5
        assert report.counts["released"] == 0
