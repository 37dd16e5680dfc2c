"""Form `split` by real services: entries, contents, withdrawals, erasures; what is clean, and what a lie looks like."""

import asyncio
import dataclasses
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Report, Verdict
from gateway.store.library import GatewayStore
from proxid.anonymise.split import rounds
from proxid.anonymise.split.types import Leaving
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.subscriber import open_subscriber
from proxid.errors import EpochError, RefusedError
from proxid.evidence.events import DeliveredPayload, EventType, decode_header, encode_header
from proxid.protocol.record import kind_and_number
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.store import connect
from tests.support.lies import GATEWAY, MAIN, Liar
from tests.support.trial import PARTIES, PEOPLE, Trial, running

E = EventType
NODES = ("news", "travel", "health")


class House(Trial):
    """People who ask at three nodes, and an epoch that ends."""

    async def start(self, stack: AsyncExitStack) -> None:
        device = self.folder / "devices/household-1/device.toml"
        seconds = self.config("gateway").epoch_seconds
        device.write_text(device.read_text().replace("epoch_seconds = 86400", f"epoch_seconds = {seconds}"))
        await super().start(stack)

    async def evening(self, people: tuple[str, ...] = PEOPLE) -> None:
        await self.consent()
        for node in NODES:
            await self.ask(f"{node} of today", people)
        await self.ask("news again", people[:3])
        await self.ask("travel alone", people[:2])
        await self.settle()

    async def close(self) -> None:
        """The epoch ends; everything that it shows is in the feeds."""
        self.leap(310)
        main = connect(self.url("main-service"))
        try:
            async with asyncio.timeout(30):
                while await main.get("{ms}:closed") is None:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
        finally:
            await main.aclose()
        await self.settle()

    async def exercise(self, right: Right, user: str) -> None:
        """Returns when it is carried out."""
        config = load(DeviceConfig, self.folder / "devices/household-1/device.toml")
        client = RightsClient(config, self.device, self.clocks["device"].wall)
        await client.exercise(right, user)
        await client.close()


@asynccontextmanager
async def house(folder: Path, epoch_seconds: int = 86_400, **anonymiser: Any) -> AsyncIterator[House]:
    """One tick, the close, unless told otherwise: when a test runs in the day changes nothing."""
    options = {"form": "split", "level": 2, "min_text_users": 2, "bucket": "1 d"} | anonymiser
    async with running(folder, House, anonymiser=options, epoch_seconds=epoch_seconds) as trial:
        assert isinstance(trial, House)
        yield trial


def entries(got: list[Any]) -> int:
    return sum(len(one.records) for one in got if kind_and_number(one.id.group)[0] == "entries")


def contents(got: list[Any]) -> list[Any]:
    return [one.contents for one in got if one.contents is not None]


def clean(report: Report) -> None:
    assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)


@pytest.mark.parametrize("stored", [False, True])
async def test_an_honest_evening(tmp_path: Path, stored: bool) -> None:
    """Both parties get every entry and the same contents; the audit repeats them, also from what it stores."""
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.close()
        got = await trial.receive()
        asked = len(NODES) * len(PEOPLE) + 5
        assert [entries(got[party]) for party in PARTIES] == [asked, asked]
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
async def test_a_withdrawal_after_a_tick(tmp_path: Path, stored: bool) -> None:
    """What had left is delivered as far as its person still consents, and stands in no round; the rest follows."""
    now = int(time.time())
    epoch = min(range(3600, 7200, 4), key=lambda seconds: now % seconds)  # one that has just begun
    async with house(tmp_path, bucket=f"{epoch // 4} s", epoch_seconds=epoch) as trial:
        await trial.evening()
        for clock in trial.clocks.values():
            clock.passed += epoch // 4
        await released(trial)
        await served(trial)
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


async def served(trial: House) -> None:
    """The services have compared their clocks again."""
    async with asyncio.timeout(60):
        while True:
            try:
                await trial.device._fetch_route()
            except (EpochError, RefusedError):
                await asyncio.sleep(0.05)
            else:
                return


async def released(trial: House) -> None:
    """The tick that is due has come."""
    main = connect(trial.url("main-service"))
    try:
        async with asyncio.timeout(60):
            while not await main.xlen("{ms}:outbox"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    finally:
        await main.aclose()
    await trial.settle()


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


# -- lies: each is caught by the check that it is


def fields(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Any], Any]:
    return lambda event: dataclasses.replace(event, fields=encode_header(**change(dict(decode_header(event.fields)))))


async def told(folder: Path, patch: pytest.MonkeyPatch, tell: Callable[[Liar], None], receive: bool = True) -> set[int]:
    async with house(folder) as trial:
        liar = Liar(trial, patch)
        tell(liar)
        await trial.evening()
        await trial.close()
        if receive:
            await trial.receive()
        return await liar.caught()


def a_ladder_over_the_epoch(liar: Liar) -> None:
    """What enough people asked in the epoch is shown in a round that holds it once."""
    honest = rounds.form

    def form(audience: str, left: Any, settings: Any, draws: Any) -> Any:
        asked = [text for one in left for text in one.record.texts]
        shown = lambda said: [x for x in said if asked.count(x) >= settings.threshold]  # noqa: E731

        def show(contents: Any, depth: int, _: Any) -> Any:
            return Counter((path[:depth], next(iter(shown(said)), "")) for path, said in contents)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rounds, "show", show)
            return honest(audience, left, settings, draws)

    liar.patch.setattr("main_service.jobs.splitting.form", form)


def one_batch_a_node(liar: Liar) -> None:
    """All records of a node together, however many are one person's."""

    def deal(records: Any, settings: Any, draws: Any) -> Any:
        return [list(records)], []

    honest = rounds.form

    def form(*arguments: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rounds, "deal", deal)
            patch.setattr(rounds, "check", lambda *_: None)
            return honest(*arguments)

    liar.patch.setattr("main_service.jobs.splitting.form", form)


def a_tick_of_one_node(liar: Liar) -> None:
    def leaving(waiting: Any, opened: Any, settings: Any, draws: Any) -> Any:
        return [
            Leaving(record, node) for node, records in waiting.items() if node[-1] == "news" for record in records
        ], []

    liar.patch.setattr("main_service.jobs.splitting.leaving_at_close", leaving)


def another_digest(liar: Liar) -> None:
    liar.changes(MAIN, E.BATCHED, fields(lambda f: {**f, "digest": "00" * 32}))


def contents_kept_back(liar: Liar) -> None:
    liar.drops(MAIN, E.BATCHED)


def a_tick_unsaid(liar: Liar) -> None:
    liar.drops(MAIN, E.TICKED)


def an_entry_lost(liar: Liar) -> None:
    def change(data: bytes) -> bytes:
        said = DeliveredPayload.decode(data)
        return DeliveredPayload(said.acknowledgement, said.pairs[1:]).encode()

    liar.payloads(GATEWAY, E.DELIVERED, change)


def never_sent(liar: Liar) -> None:
    liar.drops(GATEWAY, E.SENT)


LIES = [
    (a_ladder_over_the_epoch, 5), (one_batch_a_node, 5), (a_tick_of_one_node, 5), (another_digest, 5),
    (contents_kept_back, 5), (a_tick_unsaid, 5), (an_entry_lost, 3), (never_sent, 7),
]  # fmt: skip


@pytest.mark.parametrize(("tell", "check"), LIES, ids=[tell.__name__ for tell, _ in LIES])
async def test_a_lie_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tell: Callable[[Liar], None], check: int
) -> None:
    assert check in await told(tmp_path, monkeypatch, tell)


async def test_entries_that_vanish_are_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry of a portion that is neither delivered nor said to be dropped, though the rest was delivered."""
    async with house(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        liar.drops(GATEWAY, E.DROPPED)
        await trial.evening()
        await trial.close()
        await trial.exercise(Right.OBJECT, PEOPLE[0])
        await trial.receive()
        assert 7 in await liar.caught()


async def test_contents_sent_after_an_objection_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that does not drop them, though who objects has entries that were delivered."""
    async with house(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        await trial.evening()
        await trial.close()
        gateway = connect(trial.url("gateway"))
        held = {}
        for party in PARTIES:  # contents are kept back from the stream at first
            for cursor in await gateway.zrange(f"{{gw}}:f:{party}", 0, -1):
                if await gateway.hget(f"{{gw}}:g:{party}:{cursor.decode()}", "t") == b"contents":
                    held[party] = cursor
                    await gateway.zrem(f"{{gw}}:f:{party}", cursor)
        await trial.receive()
        async for key in gateway.scan_iter(match="{gw}:ie:*"):
            await gateway.delete(key)  # it forgets who has entries
        await trial.exercise(Right.OBJECT, PEOPLE[0])
        for party, cursor in held.items():
            await gateway.zadd(f"{{gw}}:f:{party}", {cursor: int(cursor)})
        await gateway.aclose()
        async with open_subscriber(load(PartyConfig, tmp_path / "parties/acme/party.toml")) as subscriber:
            subscriber._after = 0
            got = [group async for group in subscriber.groups(False)]
        assert contents(got)
        assert 6 in await liar.caught()
