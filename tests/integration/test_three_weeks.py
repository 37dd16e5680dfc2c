"""Three weeks of a deployment (DESIGN 4.3, 7, 10.4, 11): no honest day is accused, who lies on a copy of it is.

Each day begins by everybody's clock, and ends with an audit from nothing and one that goes on from the day before.
"""

import asyncio
import dataclasses
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.epochs import OpenEpochs
from gateway.timekeeping import Timekeeper
from proxid.errors import Code, LogDamagedError, RefusedError
from proxid.evidence.events import ConsentPayload, EventType
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.store import connect
from tests.support import lies_service
from tests.support.days import DAY
from tests.support.lies import GATEWAY, MAIN, Liar, flip, knows_only
from tests.support.trial import PARTIES, provision
from tests.support.trial import PEOPLE as RESIDENTS
from tests.support.weeks import LOST, UNACCEPTED, LongTrial

VISITORS = ("visitor-a", "visitor-b", "visitor-c")
E = EventType


# What honest people and operators do.


async def services_are_killed(trial: LongTrial) -> None:
    await trial.kill(GATEWAY)
    await trial.ask("node1 question", RESIDENTS[:3])
    await trial.kill(MAIN, GATEWAY)
    await trial.ask("node1 question", RESIDENTS[3:])
    await trial.settle()


async def somebody_objects(trial: LongTrial) -> None:
    await trial.exercise(Right.OBJECT, VISITORS[1])
    await trial.device.ask(VISITORS[1], "node1 question")


async def and_resumes(trial: LongTrial) -> None:
    await trial.exercise(Right.RESUME, VISITORS[1])
    trial.people.append(VISITORS[1])


async def globex_is_to_leave(trial: LongTrial) -> None:
    trial.parties = ("acme",)
    assert trial.govern() == 0


async def globex_returns_and_k_is_raised(trial: LongTrial) -> None:
    trial.parties, trial.k = PARTIES, 4
    assert trial.govern() == 0


async def initech_joins(trial: LongTrial) -> None:
    trial.parties = (*PARTIES, "initech")
    await trial.end()
    trial.provision()
    await trial.begin()
    assert trial.govern() == 0


async def bundles_change_and_k_is_lowered(trial: LongTrial) -> None:
    trial.bundle, trial.k = "plain", 3
    assert trial.govern(lambda text: text.replace("bundles.everything.", "bundles.plain.")) == 0


async def operators_go_ahead_of_the_auditor(trial: LongTrial) -> None:
    trial.bundle, trial.k = "everything", 5
    assert trial.govern(known=False) == 0


async def and_the_auditor_catches_up(trial: LongTrial) -> None:
    trial.expected = {UNACCEPTED}
    await trial.honest("before it accepts")
    assert trial.govern() == 0
    trial.forget()
    trial.expected = set()


async def somebody_is_erased(trial: LongTrial) -> None:
    await trial.device.ask(VISITORS[0], "node7 waits alone")
    await trial.ask("node1 question", trial.people)  # in feeds
    await trial.settle()
    await trial.exercise(Right.ERASE, VISITORS[0])
    with pytest.raises(RefusedError) as refused:
        await trial.device.ask(VISITORS[0], "node1 question")
    assert refused.value.remote is Code.NOT_REGISTERED


async def and_enrolled_again(trial: LongTrial) -> None:
    await trial.enrol("returned")
    await trial.consent(trial.bundle, ["returned"])
    await trial.ask("node1 question", trial.people)
    await trial.settle()


async def people_get_new_certificates(trial: LongTrial) -> None:
    trial.provision("devices/household-1", "parties/acme")
    await trial.reopen()
    async with asyncio.timeout(20):
        while True:  # the gateway looks at its list by itself
            try:
                await trial.served()
                break
            except RefusedError:
                await asyncio.sleep(0.2)
    await trial.receive("acme")


async def servers_get_new_certificates(trial: LongTrial) -> None:
    await trial.end()
    trial.provision(GATEWAY, MAIN, "auditor")
    await trial.begin()
    await trial.served()


def wrong(role: str, days: int) -> Callable[[LongTrial], Awaitable[None]]:
    async def step(trial: LongTrial) -> None:
        await trial.wrong(role, float(days * DAY))

    return step


async def gateway_is_away_for_a_night(trial: LongTrial) -> None:
    """The main service ends the day alone, after an hour of steady time, and says so."""
    await trial.halt(GATEWAY)
    trial.leap(7200.0)
    store = connect(trial.url(MAIN))
    before = await store.get("{ms}:closed")
    async with asyncio.timeout(30):
        while await store.get("{ms}:closed") == before:  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.05)
    await store.aclose()
    await trial.serve(GATEWAY)
    await trial.served()
    await trial.evening()


async def stores_are_put_back(trial: LongTrial) -> None:
    """Each alone, which is refused; the newest copy of it is what helps."""
    for role in (MAIN, GATEWAY):
        old = await trial.snapshot(role)
        await trial.ask("node1 question", trial.people)
        await trial.settle()
        await trial.audit()  # waits until all of that is in the log
        await trial.halt(role)
        newest, head = await trial.snapshot(role), trial.folder / role / "data/evidence/checkpoint"
        before = head.read_bytes()
        await old(False)
        with pytest.raises(LogDamagedError, match="the store knows of"):
            await trial.serve(role)
        assert head.read_bytes() == before
        await newest(False)
        await trial.serve(role)
        await trial.served()


def lost(role: str) -> Callable[[LongTrial], Awaitable[None]]:
    """A whole folder is put back that is too old, which is refused by the other's word; a successor goes on."""

    async def step(trial: LongTrial) -> None:
        old = await trial.snapshot(role)
        await trial.ask("node1 question", trial.people)
        await trial.settle()
        await trial.audit()
        await trial.kill(MAIN, GATEWAY)  # heads are shown
        await trial.halt(role)
        await old(True)
        with pytest.raises(LogDamagedError, match=r"own\.head"):
            await trial.refuses(role)
        assert await trial.mend(role) == 0
        with pytest.raises(LogDamagedError, match="older copy"):
            await trial.serve(role)
        await trial.emptied(role)
        await trial.serve(role)
        trial.expected = {LOST}

    return step


# What liars do, on a copy.


async def gateway_drops_a_group(liar: Liar) -> None:
    """It says that a party has left which has not."""
    honest = OpenEpochs.latest

    async def without(self: OpenEpochs) -> Any:
        found = await honest(self)
        document = dataclasses.replace(found.document, parties=PARTIES[:1]) if found else None
        return None if found is None else dataclasses.replace(found, document=document)

    liar.patch.setattr(OpenEpochs, "latest", without)
    await liar.trial.consent()
    await liar.trial.ask("node1 question")
    await liar.trial.settle()


async def gateway_forges_a_consent(liar: Liar) -> None:
    def forged(payload: bytes) -> bytes:
        said = ConsentPayload.decode(payload)
        return dataclasses.replace(said, vector=said.vector and flip(said.vector)).encode()

    liar.payloads(GATEWAY, E.CONSENT, forged, times=99)
    await liar.trial.consent("nothing")


async def gateway_keeps_an_erased_persons_evidence_keys(liar: Liar) -> None:
    trial: Any = liar.trial
    store: Any = connect(trial.url(GATEWAY))
    kept = {key: await store.get(key) async for key in store.scan_iter(match="{gw}:ek:*")}
    await trial.exercise(Right.ERASE, RESIDENTS[3])
    for key, seed in kept.items():
        await store.set(key, seed)
    await store.aclose()


async def service_keeps_what_an_erased_person_left(liar: Liar) -> None:
    liar.drops(MAIN, E.ERASED)
    await liar.trial.exercise(Right.ERASE, RESIDENTS[3])  # type: ignore[attr-defined]


async def service_opens_an_epoch_below_the_floors(liar: Liar) -> None:
    trial: Any = liar.trial
    trial.k = 2
    assert trial.govern() == 1
    assert await trial.next_day() is None
    await trial.busy(1)


async def service_opens_a_closed_day_again(liar: Liar) -> None:
    trial: Any = liar.trial
    first: list[PlainEvent] = []

    def again(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            out.append(event)
            if event.type is E.EPOCH_OPENED:
                first.append(event)
            epochs = {json.loads(one.fields)["epoch"]: one for one in first}
            if event.type is E.EPOCH_CLOSED and (epoch := json.loads(event.fields)["epoch"]) in epochs:
                out.append(epochs[epoch])
        return out

    liar.records(MAIN, again)
    for _ in range(2):
        assert await trial.next_day() is None
        await trial.evening()


async def gateway_begins_a_successor_that_hides_what_was_seen(liar: Liar) -> None:
    trial: Any = liar.trial
    files = trial.folder / GATEWAY / "data/evidence"
    await trial.audit()  # waits until all of that is in the log
    short = (files / "checkpoint").read_bytes()
    await trial.evening()
    await trial.audit(state=True)
    liar.options = {"known": [(files / "checkpoint").read_bytes()]}
    await trial.halt(GATEWAY)
    knows_only(trial, GATEWAY, short, liar.patch)
    assert await trial.mend(GATEWAY) == 0
    await trial.serve(GATEWAY)


# What is done on each day; who lies that night on a copy, the check that finds it, and the log whose leaf shows it.
WEEKS: list[tuple[Callable[[LongTrial], Awaitable[None]], tuple[Any, ...]]] = [
    (somebody_objects, ((service_opens_an_epoch_below_the_floors, 5, MAIN),)),
    (globex_is_to_leave, ()),
    (services_are_killed, ()),
    (wrong(GATEWAY, 1), ((lies_service.service_publishes_an_altered_text, 5, MAIN),)),
    (globex_returns_and_k_is_raised, ()),
    (somebody_is_erased, ((service_keeps_what_an_erased_person_left, 8, MAIN),)),
    (people_get_new_certificates, ()),
    (wrong(MAIN, 1), ()),
    (initech_joins, ((gateway_drops_a_group, 7, GATEWAY),)),
    (and_resumes, ((gateway_forges_a_consent, 3, GATEWAY),)),
    (wrong(GATEWAY, -1), ((service_opens_a_closed_day_again, 5, MAIN),)),
    (bundles_change_and_k_is_lowered, ()),
    (and_enrolled_again, ()),
    (gateway_is_away_for_a_night, ()),
    (wrong(MAIN, -1), ()),
    (servers_get_new_certificates, ((gateway_begins_a_successor_that_hides_what_was_seen, 1, GATEWAY),)),
    (operators_go_ahead_of_the_auditor, ()),
    (and_the_auditor_catches_up, ()),
    (stores_are_put_back, ((gateway_keeps_an_erased_persons_evidence_keys, 8, GATEWAY),)),
    (lost(MAIN), ()),
    (lost(GATEWAY), ()),
]


@pytest.mark.slow
async def test_three_weeks_of_a_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Timekeeper, "_until_next", lambda _: 0.1)  # clocks are compared often
    monkeypatch.setattr("proxid.runtime.store.clock.PAUSE", 0.05)
    trial = LongTrial(tmp_path / "weeks")
    provision(trial.folder, (*RESIDENTS, *VISITORS), k=3)
    trial.people += VISITORS
    trial.accept()
    await trial.begin()
    try:
        for number, (step, lies) in enumerate(WEEKS):
            if number:
                assert await trial.next_day() is None
            await trial.evening(f"node{number % 4}")
            await step(trial)
            _, going_on = await trial.honest(f"day {number}, {step.__qualname__}")
            for tell, check, log in lies:
                await trial.convicted(tell, check, log)
    finally:
        await trial.end()
    counts = going_on.counts
    assert len(WEEKS) == 21 and counts["gateway.ERASED"] == 1
    # A day that passes at once is over for the main service before it hears the gateway again, if it looks just then.
    assert counts["epochs.believed"] >= 1
    assert counts["gateway.SUCCEEDED"] == counts["main-service.SUCCEEDED"] == 1
    assert counts["gateway.OBJECTED"] == 2 and counts["released"] > 100
