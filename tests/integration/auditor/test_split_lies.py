"""Lies about form `split`, told by real services: each is caught by the check that it is (DESIGN 10.4)."""

import asyncio
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import ERASURE
from gateway.store.library import GatewayStore
from main_service.rights import Subjects
from proxid.anonymise.split import rounds
from proxid.classify import Classification
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.subscriber import open_subscriber
from proxid.evidence.events import decode_header, encode_header
from proxid.protocol.record import kind_and_number
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.store import connect
from tests.integration.auditor.test_epoch_keys_lost import lost
from tests.support.lies import GATEWAY, Liar
from tests.support.lies_arrivals import for_hours
from tests.support.lies_epochs import patiently
from tests.support.lies_parties import knows_no_recipients, read_in_silence, silent
from tests.support.lies_split import LIES, E, a_path_without_the_ladder, a_row_under_the_threshold, a_tick_early, fields
from tests.support.lies_unsaid import early
from tests.support.split_house import NODES, House, begun, clean, contents, house, released, served
from tests.support.trial import PARTIES, PEOPLE, FixedClassifier, running


async def told(folder: Path, patch: pytest.MonkeyPatch, tell: Callable[[Liar], None], receive: bool = True) -> set[int]:
    async with house(folder) as trial:
        liar = Liar(trial, patch)
        tell(liar)
        await trial.evening()
        await trial.close()
        if receive:
            await trial.receive()
        return await liar.caught()


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


@pytest.mark.slow
@pytest.mark.parametrize("hours", [2, 4])
async def test_what_is_taken_up_at_a_later_tick_than_its_own_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    async with house(tmp_path, bucket="1 h") as trial:
        liar = Liar(trial, monkeypatch)
        await early(liar)
        await for_hours(liar, *[f"{node} of today" for node in (*NODES, "news")][:hours])
        assert 7 in await liar.caught()


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


@pytest.mark.parametrize("reason", ["withdrawn", "late", "late by a clock of its own"])
async def test_contents_that_are_dropped_without_a_reason_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    """Nobody went, or no day is over; told at once as something nobody can check, and soon as what it is."""
    async with house(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        await trial.evening()
        await trial.close()
        gateway, time = connect(trial.url("gateway")), int(trial.clocks["gateway"].wall())
        if reason.startswith("late"):
            if reason == "late":
                liar.changes(GATEWAY, E.DROPPED, fields(lambda f: {**f, "time": time}))
            assert await GatewayStore(gateway).drop_late(PARTIES, time + 86_500) == len(PARTIES)
        else:
            async for name in gateway.scan_iter(match="{gw}:g:*"):
                if await gateway.hget(name, "t") == b"contents":
                    await gateway.hset(name, "y", 1)
        await trial.receive()
        await gateway.aclose()
        liar.hides = reason != "late"  # whose clock may have been wrong
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


@pytest.mark.parametrize("reason", ["withdrawn", "invalid"])
async def test_everybodys_entries_are_not_dropped_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    """As contents are, for one person's going, without saying which; or as ones that do not hold, and they do."""
    portion: dict[tuple[Any, Any], Any] = {}

    def dropped(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            said: dict[str, Any] = dict(decode_header(event.fields))
            where = (said.get("group"), said.get("party"))
            if event.type is E.SENT and not portion and kind_and_number(said["group"])[0] == "entries":
                portion[where] = {"audience": said["audience"]} if reason == "withdrawn" else {}
            if event.type not in (E.SENT, E.DELIVERED) or where not in portion:
                out.append(event)
            elif event.type is E.DELIVERED:
                named = {name: said[name] for name in ("epoch", "group", "party")}
                header = encode_header(**named, **portion[where], reason=reason)
                out.append(dataclasses.replace(event, type=E.DROPPED, fields=header, payload=b""))
        return out

    async with house(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        liar.records(GATEWAY, dropped)
        await trial.evening()
        await trial.close()
        await trial.receive()
        await trial.exercise(Right.OBJECT, PEOPLE[0])
        liar.hides = reason == "invalid"  # nobody knows what the main service sent
        assert 7 in await liar.caught() and portion


@pytest.mark.parametrize(("form", "says"), [("split", True), ("pairs", True), ("pairs", False)])
async def test_what_is_delivered_after_a_later_epochs_withdrawal_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, says: bool
) -> None:
    """A gateway that asks the consent of the record's own epoch alone; and one that never says what it sent."""
    async with house(tmp_path, form=form) as trial:
        liar = Liar(trial, monkeypatch)
        if not says:
            silent(liar)
        await trial.evening()
        await trial.close()
        await served(trial)

        taken = GatewayStore.consent

        async def consent(store: Any, *told: Any) -> Any:
            for mark, step in (("ig", None), ("gs", taken)):  # what waits is not found, and then nothing was taken back
                sent = await step(store, *told) if step else []
                async for key in store.client.scan_iter(match=f"{{gw}}:{mark}:*"):
                    await store.client.delete(key)
            return sent

        monkeypatch.setattr(GatewayStore, "consent", consent)
        await trial.consent("nothing", PEOPLE[:1])
        assert sum(len(one.records) for one in (await trial.receive())["acme"]) >= len(NODES) * len(PEOPLE)
        assert (6 if says else 7) in await liar.caught()


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


@pytest.mark.slow
@pytest.mark.parametrize("keeps", [False, True])
async def test_a_key_that_is_lost_before_an_epochs_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps: bool
) -> None:
    """Nothing of it is shown: of a main service that keeps it, everything is, and that is found."""

    async def restrict(self: Subjects, prox_id: str, *_: bool) -> None:
        await self._store.given_up(prox_id, 1000)

    async with house(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        await trial.evening()
        if keeps:
            monkeypatch.setattr(Subjects, "restrict", restrict)
        await lost(trial)
        await trial.consent(people=PEOPLE[1:2])
        await trial.ask("news of tonight", PEOPLE[1:2])
        await trial.close()
        (shown,) = contents((await trial.receive())["acme"])
        left = len(NODES) * len(PEOPLE) + 5 - (0 if keeps else 5)
        assert sum(row.records for row in shown.rows) + shown.withheld == left
        if keeps:
            assert await liar.caught() == {6}
        else:
            clean(await trial.audit())


@pytest.mark.slow
async def test_who_was_sent_entries_of_somebody_erased_and_acknowledged_the_others_is_to_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway that tells nobody says that nobody is to be told: until the next epoch that party may have left."""
    async with house(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        await trial.evening()
        await trial.close()
        await read_in_silence(liar)
        knows_no_recipients(liar)
        await trial.exercise(Right.ERASE, PEOPLE[1])
        await trial.receive()
        liar.hides = True
        assert await liar.caught() == {ERASURE}
        trial.leap(60.0)
        await patiently(lambda: trial.ask("news of tomorrow", PEOPLE[2:4]))
        liar.hides = False
        assert await liar.caught() == {ERASURE} and liar.accused == {GATEWAY}
