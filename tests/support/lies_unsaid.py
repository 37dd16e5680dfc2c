"""Lies told where another is said to have had a part, or time: it was away, somebody objected, it was late."""

import dataclasses
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gateway.store.library import GatewayStore
from gateway.upstream import MainServiceClient
from main_service.jobs.timekeeping import Timekeeper
from proxid.crypto.identity import Credential
from proxid.crypto.sansig import SignedMessage
from proxid.errors import RefusedError, UpstreamError
from proxid.evidence.events import EventType, ReceivedPayload, encode_header
from proxid.evidence.ratchet import subject_tag
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.encryptor import PlainEvent
from tests.integration.gateway.test_rights import rights
from tests.support.lies import GATEWAY, MAIN, Liar, lie, store_of, unseen
from tests.support.lies_epochs import next_day, patiently
from tests.support.lies_lost import withholds_one
from tests.support.lies_reasons import held_back
from tests.support.trial import PEOPLE

E = EventType
HOUR = 3600.0


def another(event: PlainEvent, type_: EventType, **fields: Any) -> PlainEvent:
    """An event of another type in an event's place, which holds nothing of anybody."""
    return dataclasses.replace(event, type=type_, fields=encode_header(**fields), payload=b"")


def behind(kind: EventType, told: Callable[[PlainEvent], PlainEvent]) -> Callable[[list[PlainEvent]], list[PlainEvent]]:
    """Behind the first event of a type the service tells another one."""
    done: list[PlainEvent] = []

    def transform(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            out.append(event)
            if event.type is kind and not done:
                done.append(event)
                out.append(told(event))
        return out

    return transform


def a_minute(liar: Liar) -> None:
    """Nothing is under way any more."""
    for clock in liar.trial.clocks.values():
        clock.passed += 60.0


@unseen("turned_away")
async def gateway_says_that_the_main_service_was_away_for_whom_it_chooses(liar: Liar) -> None:
    honest, heard = MainServiceClient.ask, list[bool]([True])

    async def ask(self: MainServiceClient, *asked: Any) -> SignedMessage:
        if heard:
            return await honest(self, *asked)
        raise UpstreamError("as if")

    liar.patch.setattr(MainServiceClient, "ask", ask)
    await liar.trial.consent()
    await liar.trial.ask("node1 question", PEOPLE[:4])
    heard.clear()
    liar.trial.device._gateway._limit = 1
    for person in PEOPLE[4:]:
        try:
            await liar.trial.ask("node1 question", (person,))
        except (UpstreamError, RefusedError):
            continue
    a_minute(liar)


@unseen("turned_away")
async def gateway_keeps_an_answer_to_itself(liar: Liar) -> None:
    liar.drops(GATEWAY, E.ANSWERED, times=1)
    await liar.trial.busy(1)
    a_minute(liar)


def taking_back(liar: Liar) -> None:
    """The main service says that the first record that waits was taken back."""

    def taken(event: PlainEvent) -> PlainEvent:
        fields = json.loads(event.fields)
        return another(event, E.WITHDRAWN, epoch=fields["epoch"], session=fields["session"])

    liar.records(MAIN, behind(E.BUFFERED, taken))


@lie(6, quick=True)
async def service_takes_back_what_waits_of_somebody_who_did_nothing(liar: Liar) -> None:
    """Whoever did something may still have it recorded: it is unchecked from the first audit on."""
    liar.hides = True
    taking_back(liar)
    await liar.trial.consent()
    await liar.trial.ask("node1 question", PEOPLE[:1])
    await liar.trial.settle()


async def later(liar: Liar, seconds: float, text: str, person: str) -> None:
    """Time passes for everybody, and somebody asks."""
    for clock in liar.trial.clocks.values():
        clock.passed += seconds
    await patiently(lambda: liar.trial.ask(text, (person,)))
    await liar.trial.settle()


async def early(liar: Liar) -> None:
    """A day has just begun, and everybody consents."""
    liar.trial.leap(60.0)
    await patiently(liar.trial.consent)


async def exercise(liar: Liar, *asked: Right) -> None:
    client = rights(liar.trial)
    for right in asked:
        await client.exercise(right, PEOPLE[0])
    await client.close()


@lie(6)
async def service_takes_back_what_waits_of_somebody_who_had_objected_before(liar: Liar) -> None:
    liar.hides = True
    await liar.trial.consent()
    await exercise(liar, Right.OBJECT, Right.RESUME)
    taking_back(liar)
    await liar.trial.ask("node1 question", PEOPLE[:1])
    await liar.trial.settle()


@lie(7)
async def service_withholds_one_request_of_somebody_who_objects_later(liar: Liar) -> None:
    """What was asked after it waited: the main service had not been told."""
    liar.hides = True
    await withholds_one(liar, PEOPLE[0], "node1 question", "node2 question")
    await exercise(liar, Right.OBJECT)


@lie(7, quick=True)
async def service_sends_a_group_that_it_does_not_log_to_a_party_that_keeps_silent(liar: Liar) -> None:
    liar.drops(MAIN, E.RELEASED)
    await liar.trial.consent()
    await liar.trial.ask("node1 question", PEOPLE[:4])
    await liar.trial.settle()
    store = await store_of(liar, GATEWAY)
    assert await GatewayStore(store).take("acme", 0, 8)
    await store.aclose()


@lie(7)
async def service_says_in_the_evening_that_a_request_of_the_morning_was_too_late(liar: Liar) -> None:
    """It was answered, and not taken up until the epoch was over, while others were."""
    session: list[str] = []

    def late(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            named = json.loads(event.fields).get("session")
            if event.type is E.BUFFERED and not session:
                session.append(named)
            elif event.type is E.SUPPRESSED and session == [named]:
                out.append(another(event, E.SUPPRESSED, kind="unknown", reason="epoch_over", session=named, v=2))
            elif event.type is not E.RAISED:
                out.append(event)
        return out

    liar.records(MAIN, late)
    await early(liar)
    await later(liar, HOUR, "node9 question", PEOPLE[0])
    for person in PEOPLE[1:5]:
        await later(liar, HOUR, "node1 question", person)
    await next_day(liar)


@lie(5)
async def service_moves_nothing_up_for_hours(liar: Liar) -> None:
    """What waits too long waits on, with whom the service chooses: it may have been away for a moment."""
    liar.hides = True

    async def nothing(self: Timekeeper) -> None:
        """As if no time passed."""

    await early(liar)
    liar.patch.setattr(Timekeeper, "tick", nothing)
    await later(liar, 0.0, "node1 question", PEOPLE[0])
    await later(liar, 7 * HOUR, "node2 question", PEOPLE[1])
    await later(liar, 1.1 * HOUR, "node3 question", PEOPLE[1])


@lie(8)
async def service_says_that_it_has_forgotten_somebody_whom_nobody_erased(liar: Liar) -> None:
    liar.hides = True  # the erasure may still come to be recorded

    def forgotten(event: PlainEvent) -> PlainEvent:
        credential = Credential.decode(ReceivedPayload.decode(event.payload).credential)
        return another(event, E.ERASED, tag=subject_tag(credential.evidence_key).hex())

    liar.records(MAIN, behind(E.RECEIVED, forgotten))
    await liar.trial.consent("nothing")
    await liar.trial.ask("node1 question", PEOPLE[:1])


@lie(6)
async def gateway_keeps_a_choice_from_the_main_service(liar: Liar) -> None:
    """It took the withdrawal, and hours later what was asked still waits under the choice before."""
    liar.hides = True  # the main service may have been away

    async def away(self: MainServiceClient, *_: Any) -> Any:
        raise UpstreamError("as if")

    trial = liar.trial
    await early(liar)
    liar.patch.setattr(MainServiceClient, "consent", away)
    trial.device._gateway._limit = 1
    with suppress(UpstreamError, RefusedError):
        await trial.device.consent(PEOPLE[0], "nothing")
    for _ in range(2):
        await later(liar, 1.1 * HOUR, "node1 question", PEOPLE[0])


@lie(7)
async def service_holds_somebody_back_until_they_choose_anew(liar: Liar) -> None:
    """And says that it was not that request's turn, of which it does not say what it asked."""

    def hidden(event: PlainEvent) -> PlainEvent:
        said = json.loads(event.fields)
        assert said["reason"] == "consent_changed"
        return dataclasses.replace(event, fields=encode_header(**{**said, "kind": "unknown"}))

    liar.changes(MAIN, E.SUPPRESSED, hidden)
    free = await held_back(liar)
    await liar.trial.consent("searches", PEOPLE[:1])
    free.append(True)
    await liar.trial.settle()
