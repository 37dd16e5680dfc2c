"""Lies about form `split`, told by real services: each is caught by the check that it is (DESIGN 10.4)."""

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.store.library import GatewayStore
from main_service.integrator import Integrator
from main_service.jobs import splitting
from proxid.anonymise.split import rounds
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Leaving
from proxid.classify import Classification
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.subscriber import open_subscriber
from proxid.evidence.events import DeliveredPayload, EventType, decode_header, encode_header
from proxid.protocol.contents import ContentsBody
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.store import connect
from tests.support.lies import GATEWAY, MAIN, Liar, signed_twice
from tests.support.split_house import NODES, House, begun, contents, house, released, served
from tests.support.trial import PARTIES, PEOPLE, FixedClassifier, running

E = EventType


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


def a_batch_formed_again(liar: Liar) -> None:
    """Once more, without somebody: whoever compares the two sees what was theirs."""
    honest = rounds.form

    def form(audience: str, left: Any, settings: Any, draws: Any) -> Any:
        left = list(left)
        return honest(audience, [one for one in left if one.record.person != left[0].record.person], settings, draws)

    liar.patch.setattr("main_service.jobs.splitting.form", form)


def a_batch_said_twice(liar: Liar) -> None:
    liar.records(MAIN, lambda events: [one for e in events for one in [e] * (2 if e.type is E.BATCHED else 1)])


def entries_in_order_of_arrival(liar: Liar) -> None:
    honest = splitting.portions

    def portions(tick: int, leaving: Any, draws: Any) -> Any:
        came = {one.record.id: at for lots in leaving.values() for at, one in enumerate(lots)}
        for number, lot in honest(tick, leaving, draws):
            yield number, sorted(lot, key=lambda one: came[one.record.id])

    liar.patch.setattr(splitting, "portions", portions)


def formed_with(liar: Liar, **changes: Any) -> None:
    honest = rounds.form

    def form(audience: str, left: Any, settings: Any, draws: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            for name, change in changes.items():
                patch.setattr(rounds, name, change)
            return honest(audience, left, settings, draws)

    liar.patch.setattr("main_service.jobs.splitting.form", form)


def rows_in_order_of_arrival(liar: Liar) -> None:
    honest = rounds.add_up
    formed_with(liar, add_up=lambda shown: honest(shown)[::-1])


def a_path_without_the_ladder(liar: Liar) -> None:
    formed_with(liar, _prefix=lambda path, *_: path)


def a_row_under_the_threshold(liar: Liar) -> None:
    honest = rounds.show
    less = lambda said, depth, settings: honest(said, depth, dataclasses.replace(settings, min_text_users=1))  # noqa: E731
    formed_with(liar, show=less)


def two_plaintexts(liar: Liar) -> None:
    """One party gets other contents than the others."""
    honest = Integrator.release_contents

    def release(self: Integrator, audience: str, number: int, epoch: int, plaintext: bytes) -> Any:
        first, *rest = honest(self, audience, number, epoch, plaintext)
        body = dataclasses.replace(ContentsBody.decode(plaintext), withheld=0).encode(bytes(32))
        return [first, *honest(self, audience, number, epoch, body)[1:]][: 1 + len(rest)]

    liar.patch.setattr(Integrator, "release_contents", release)


def another_digest(liar: Liar) -> None:
    liar.changes(MAIN, E.BATCHED, fields(lambda f: {**f, "digest": "00" * 32}))


def contents_kept_back(liar: Liar) -> None:
    liar.drops(MAIN, E.BATCHED)


def a_tick_unsaid(liar: Liar) -> None:
    liar.drops(MAIN, E.TICKED)


def a_tick_early(liar: Liar) -> None:
    """The main service lets go what waits at once."""
    liar.patch.setattr(SplitSettings, "tick", lambda self, since: min(int(since // self.bucket_s) + 1, self.ticks - 1))


def an_epoch_without_its_last_tick(liar: Liar) -> None:
    async def close(*_: Any) -> bool:
        return False

    async def forget(*_: Any) -> bool:
        return True

    liar.patch.setattr("main_service.store.split.SplitStore.close", close)
    liar.patch.setattr("main_service.store.split.SplitStore.forget", forget)


def an_entry_lost(liar: Liar) -> None:
    def change(data: bytes) -> bytes:
        said = DeliveredPayload.decode(data)
        return DeliveredPayload(said.acknowledgement, said.pairs[1:]).encode()

    liar.payloads(GATEWAY, E.DELIVERED, change)


def never_sent(liar: Liar) -> None:
    liar.drops(GATEWAY, E.SENT)


def entries_sent_that_nobody_logged(liar: Liar) -> None:
    """The main service signs twice: one set of entries for its log, another for the gateway."""
    liar.patch.setattr(Integrator, "release_entries", signed_twice(Integrator.release_entries))


LIES = [
    (a_ladder_over_the_epoch, 5), (one_batch_a_node, 5), (a_tick_of_one_node, 5), (another_digest, 5),
    (contents_kept_back, 5), (a_tick_unsaid, 5), (an_entry_lost, 3), (never_sent, 7),
    (a_batch_formed_again, 5), (a_batch_said_twice, 7), (rows_in_order_of_arrival, 5), (entries_in_order_of_arrival, 5),
    (two_plaintexts, 7),
    (entries_sent_that_nobody_logged, 7), (an_epoch_without_its_last_tick, 5),
]  # fmt: skip


@pytest.mark.parametrize(("tell", "check"), LIES, ids=[tell.__name__ for tell, _ in LIES])
async def test_a_lie_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tell: Callable[[Liar], None], check: int
) -> None:
    assert check in await told(tmp_path, monkeypatch, tell)


async def test_a_tick_before_its_time_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with house(tmp_path, **begun()) as trial:
        liar = Liar(trial, monkeypatch)
        a_tick_early(liar)
        await trial.evening()
        main = connect(trial.url("main-service"))
        async with asyncio.timeout(60):
            while not [k async for k in main.scan_iter("{ms}:split:*:state") if await main.hexists(k, "tick")]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await main.aclose()
        assert 5 in await liar.caught()


@pytest.mark.parametrize("form", ["split", "pairs"])
async def test_what_waits_is_kept_although_it_was_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """The main service acknowledges a withdrawal and takes nothing back."""
    async with house(tmp_path, form=form) as trial:
        liar = Liar(trial, monkeypatch)
        await trial.consent()
        await trial.ask("news of today", PEOPLE[:2])
        await trial.settle()
        kept = ("general|acme:user_id,globex:user_id",)
        monkeypatch.setattr("main_service.consents._audiences", lambda grants: kept)
        await trial.consent("nothing", PEOPLE[:1])
        assert 6 in await liar.caught()


@pytest.mark.parametrize("form", ["split", "pairs"])
async def test_what_nobody_took_back_is_not_withdrawn_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """The main service gives up records of somebody who goes on consenting, as if they had been withdrawn."""
    async with house(tmp_path, form=form) as trial:
        liar = Liar(trial, monkeypatch)
        liar.hides = True
        await trial.consent()
        await trial.ask("news of today", PEOPLE[:2])
        await trial.settle()
        monkeypatch.setattr("main_service.consents._audiences", lambda grants: ())
        await trial.consent("searches", PEOPLE[:1])
        await trial.close()
        await served(trial)
        assert 6 in await liar.caught()


class Deep(FixedClassifier):
    """Files an utterance of two words under both, and knows the second as a unit."""

    version = "deep-1"

    def classify(self, text: str) -> Classification:
        node, leaf = text.split(" ")
        return dataclasses.replace(super().classify(text), path=("Home", node, leaf), units=(leaf,))


class DeepHouse(House):
    classifier = Deep()


@pytest.mark.parametrize("tell", [None, a_path_without_the_ladder, a_row_under_the_threshold])
async def test_what_too_few_of_a_round_carry_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tell: Callable[[Liar], None] | None
) -> None:
    """Four people say `all`, and two each something else."""
    options = {"form": "split", "level": 2, "min_text_users": 2, "bucket": "1 d"}
    async with running(tmp_path, DeepHouse, anonymiser=options) as trial:
        assert isinstance(trial, House)
        liar = Liar(trial, monkeypatch)
        if tell is not None:
            tell(liar)
        await trial.consent()
        for node in NODES:
            for leaf, first, last in (("all", 0, 4), ("one", 4, 6), ("two", 6, 8)):
                await trial.ask(f"{node} {leaf}", PEOPLE[first:last])
        await trial.settle()
        await trial.close()
        (shown,) = contents((await trial.receive())["acme"])
        few = [row for row in shown.rows if {"one", "two"} & {*row.path, row.text.split(" ")[-1]}]
        assert bool(few) is (tell is not None)
        assert ({5} if tell is not None else set()) == await liar.caught()


async def test_a_tick_of_one_node_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the epoch's ends, where what waits could have waited."""
    options = begun()
    async with house(tmp_path, **options) as trial:
        liar = Liar(trial, monkeypatch)
        monkeypatch.setattr("main_service.store.split.MIN_NODES", 0)
        await trial.consent()
        for node in NODES[:2]:
            await trial.ask(f"{node} of today")
        await trial.settle()
        for clock in trial.clocks.values():
            clock.passed += options["epoch_seconds"] // 4
        await released(trial)
        monkeypatch.undo()
        assert 5 in await liar.caught()


async def test_a_raised_record_in_a_round_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = rounds.form

    def form(audience: str, left: Any, settings: Any, draws: Any) -> Any:
        lowered = [one._replace(node=("Home", "sports"), raised=False) if one.raised else one for one in left]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rounds, "check", lambda *_: None)
            return honest(audience, lowered, settings, draws)

    async with house(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        monkeypatch.setattr("main_service.jobs.splitting.form", form)
        await trial.evening()
        await trial.ask("sports of today", PEOPLE[:2])
        await trial.ask("music of today", PEOPLE[2:4])
        await trial.settle()
        await trial.close()
        assert 5 in await liar.caught()


async def test_other_entries_are_dropped_than_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as were dropped, so that the numbers agree: but other people's."""
    async with house(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        other = lambda said: [f"{i:02x}" * 16 for i, _ in enumerate(said)]  # noqa: E731
        change = fields(lambda f: {**f, "entries": other(f["entries"])} if "entries" in f else f)
        liar.changes(GATEWAY, E.DROPPED, change, times=99)
        await trial.evening()
        await trial.close()
        await trial.exercise(Right.OBJECT, PEOPLE[0])
        await trial.receive()
        assert 7 in await liar.caught()


@pytest.mark.parametrize("reason", ["withdrawn", "late"])
async def test_contents_that_are_dropped_without_a_reason_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    """Nobody went, or no day is over; told at once as something nobody can check, and soon as what it is."""
    async with house(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        await trial.evening()
        await trial.close()
        gateway, time = connect(trial.url("gateway")), int(trial.clocks["gateway"].wall())
        if reason == "late":
            assert await GatewayStore(gateway).drop_late(PARTIES, time + 86_500) == len(PARTIES)
            liar.changes(GATEWAY, E.DROPPED, fields(lambda f: {**f, "time": time}))
        else:
            async for name in gateway.scan_iter(match="{gw}:g:*"):
                if await gateway.hget(name, "t") == b"contents":
                    await gateway.hset(name, "y", 1)
        await trial.receive()
        await gateway.aclose()
        liar.hides = reason == "withdrawn"
        assert 7 in await liar.caught()


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


@pytest.mark.parametrize("form", ["split", "pairs"])
async def test_what_is_delivered_after_a_later_epochs_withdrawal_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """A gateway that asks the consent of the record's own epoch alone."""
    async with house(tmp_path, form=form) as trial:
        liar = Liar(trial, monkeypatch)
        await trial.evening()
        await trial.close()
        await served(trial)

        async def settle(store: Any, *_: Any) -> None:
            async for key in store.client.scan_iter(match="{gw}:gs:*"):
                await store.client.delete(key)

        monkeypatch.setattr("gateway.consents.settle", settle)
        await trial.consent("nothing", PEOPLE[:1])
        assert sum(len(one.records) for one in (await trial.receive())["acme"]) >= len(NODES) * len(PEOPLE)
        assert 6 in await liar.caught()


@pytest.mark.parametrize(("withdraws", "hours"), [(False, 4), (True, 4), (False, 0)])
async def test_contents_sent_after_an_objection_or_withdrawal_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, withdraws: bool, hours: int
) -> None:
    """A gateway that does not drop them, though who goes has entries that were delivered.

    Hours after the epoch contents are not on their way any more; at once it is told by what came after them.
    """
    async with house(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        await trial.evening()
        await trial.close()
        gateway = connect(trial.url("gateway"))
        held = {}
        for party in PARTIES if hours else PARTIES[:1]:  # contents are kept back from the stream at first
            for cursor in await gateway.zrange(f"{{gw}}:f:{party}", 0, -1):
                if await gateway.hget(f"{{gw}}:g:{party}:{cursor.decode()}", "t") == b"contents":
                    held[party] = cursor
                    await gateway.zrem(f"{{gw}}:f:{party}", cursor)
        await trial.receive()
        async for key in gateway.scan_iter(match="{gw}:ie:*"):
            await gateway.delete(key)  # it forgets who has entries
        for clock in trial.clocks.values():
            clock.passed += hours * 3600
        await served(trial)
        if withdraws:
            await trial.consent("nothing", PEOPLE[:1])
        else:
            await trial.exercise(Right.OBJECT, PEOPLE[0])
        for party, cursor in held.items():
            await gateway.zadd(f"{{gw}}:f:{party}", {cursor: int(cursor)})
        await gateway.aclose()
        async with open_subscriber(load(PartyConfig, tmp_path / "parties/acme/party.toml")) as subscriber:
            subscriber._after = 0
            got = [group async for group in subscriber.groups(False)]
        assert contents(got)
        assert 6 in await liar.caught()
