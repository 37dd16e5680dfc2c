"""Lies told in the reason: what was turned away, withheld or dropped for a cause that there was not."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import main_service.rpc
from gateway.store.library import GatewayStore
from gateway.upstream import MainServiceClient
from main_service.intake import Anonymiser, NotLogged, Withheld
from main_service.integrator import GroupRelease, Integrator
from main_service.store.outbox import Outbox
from main_service.store.requests import Pending, RequestStore
from proxid.crypto.sansig import SignedMessage
from proxid.errors import RestrictionError, UpstreamError
from proxid.evidence.events import BufferedPayload, EventType, encode_header
from proxid.runtime.evidence_log.encryptor import PlainEvent
from tests.support.lies import GATEWAY, MAIN, Liar, lie, store_of
from tests.support.lies_epochs import next_day
from tests.support.trial import PEOPLE

E = EventType


def named(event: PlainEvent) -> str:
    return str(json.loads(event.fields).get("session", ""))


def instead(change: Callable[[PlainEvent], list[PlainEvent]], session: list[str]) -> Any:
    """The first session that is received: RECEIVED becomes what `change` makes of it, the rest goes."""

    def transform(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            if event.type is E.RECEIVED and not session:
                session.append(named(event))
                out += change(event)
            elif not session or named(event) != session[0]:
                out.append(event)
        return out

    return transform


def refusal(event: PlainEvent) -> PlainEvent:
    header = encode_header(rule="seal_invalid", session=named(event), v=2)
    return dataclasses.replace(event, type=E.REFUSED, fields=header, payload=b"")


@lie(7, quick=True)
async def service_says_that_it_refused_what_it_answered(liar: Liar) -> None:
    liar.records(MAIN, instead(lambda event: [refusal(event)], []))
    await liar.trial.consent("nothing")
    await liar.trial.ask("node1 question")


@lie(7)
async def service_refuses_and_receives_one_request(liar: Liar) -> None:
    both = lambda events: [x for e in events for x in ([e, refusal(e)] if e.type is E.RECEIVED else [e])]  # noqa: E731
    liar.records(MAIN, both)
    await liar.trial.busy(1)


@lie(7)
async def service_hides_what_it_answered_at_the_second_try(liar: Liar) -> None:
    honest, tries = MainServiceClient.ask, list[bytes]()

    async def lost_once(self: MainServiceClient, message: SignedMessage, *rest: Any) -> SignedMessage:
        tries.append(message.session_id)
        if len(tries) == 1:
            raise UpstreamError("as if")
        return await honest(self, message, *rest)

    await liar.trial.consent("nothing")
    liar.patch.setattr(MainServiceClient, "ask", lost_once)
    liar.records(MAIN, instead(lambda _: [], []))
    await liar.trial.ask("node1 question", PEOPLE[:1])


def withholding(reason: NotLogged) -> Any:
    """In the place of what becomes of one person's requests."""
    honest = Anonymiser._decided

    def told(liar: Liar, target: str) -> None:
        def decided(self: Anonymiser, pending: Pending, *rest: Any) -> Any:
            return Withheld(reason, "general") if pending.prox_id == target else honest(self, pending, *rest)

        liar.patch.setattr(Anonymiser, "_decided", decided)

    return told


async def withheld(liar: Liar, reason: NotLogged) -> None:
    await liar.trial.consent()
    target = (await liar.trial.device.session(PEOPLE[1])).prox_id
    withholding(reason)(liar, target)
    await liar.trial.ask("node1 question", PEOPLE[:2])
    await liar.trial.settle()
    await liar.trial.ask("node2 question")
    await liar.trial.settle()


@lie(7, quick=True)
async def service_withholds_as_not_consented_what_is(liar: Liar) -> None:
    await withheld(liar, NotLogged.NO_CONSENT)


@lie(7)
async def service_withholds_as_of_an_epoch_that_is_over(liar: Liar) -> None:
    await withheld(liar, NotLogged.EPOCH_OVER)


@lie(7)
async def service_withholds_for_a_change_of_consent_that_there_was_not(liar: Liar) -> None:
    await withheld(liar, NotLogged.CONSENT_CHANGED)


@lie(7)
async def service_withholds_a_seasoned_person_as_unseasoned(liar: Liar) -> None:
    await withheld(liar, NotLogged.UNSEASONED)


@lie(7)
async def service_withholds_on_a_word_that_the_gateway_has_not_given(liar: Liar) -> None:
    """What was told may still be recorded: until two epochs later it is unchecked."""
    liar.hides = True
    await withheld(liar, NotLogged.RESTRICTED)


@lie(7)
async def service_takes_a_question_for_one_about_what_it_holds(liar: Liar) -> None:
    honest = RequestStore.receive

    async def receive(self: RequestStore, *asked: Any) -> bytes | None:
        *asked, (ttl, _) = asked
        return await honest(self, *asked, (ttl, "access"))

    liar.patch.setattr(RequestStore, "receive", receive)
    await liar.trial.consent()
    await liar.trial.ask("node1 question", PEOPLE[:2])


@lie(5)
async def service_says_that_a_record_repeats_another(liar: Liar) -> None:
    def repeats(event: PlainEvent) -> PlainEvent:
        fields = {**json.loads(event.fields), "kind": "general", "reason": "repeated", "v": 2}
        return dataclasses.replace(event, type=E.SUPPRESSED, fields=encode_header(**fields))

    liar.changes(MAIN, E.BUFFERED, repeats)
    await liar.trial.busy(1)


@lie(5, quick=True)
async def service_gives_groups_up_whose_cycle_it_dislikes(liar: Liar) -> None:
    honest = Integrator.release

    def release(self: Integrator, *group: Any) -> GroupRelease:
        made = honest(self, *group)
        if made.payload.owners[0] != min(made.payload.owners):
            raise RestrictionError("as if")
        return made

    liar.patch.setattr(Integrator, "release", release)
    await liar.trial.consent()
    for number in range(4):
        await liar.trial.ask(f"node{number} question", PEOPLE[:4])
        await liar.trial.settle()


@lie(4)
async def service_says_that_a_pipeline_made_a_record_that_nobody_has(liar: Liar) -> None:
    """And files it where it likes: that is not clean, whatever else is found."""
    liar.hides = True

    def made_up(data: bytes) -> bytes:
        return dataclasses.replace(BufferedPayload.decode(data), pipeline="made-up-9").encode()

    liar.payloads(MAIN, E.BUFFERED, made_up)
    await liar.trial.busy(1)


async def held_back(liar: Liar) -> list[bool]:
    """Somebody asked first, and is taken up once something is in the list that is returned; everybody else at once."""
    honest, free = RequestStore.pending, list[bool]()
    liar.patch.setattr("auditor.checks.c7_arrivals.BOUND", 4)
    await liar.trial.consent()
    target = (await liar.trial.device.session(PEOPLE[0])).prox_id

    async def pending(self: RequestStore, limit: int) -> list[Pending]:
        rows = await honest(self, limit)
        return [row for row in rows if free or row.prox_id != target]

    liar.patch.setattr(RequestStore, "pending", pending)
    await liar.trial.ask("node1 question", PEOPLE[:1])
    for person in PEOPLE[1:]:
        await liar.trial.ask("node1 question", (person,))
    await waits(liar, 1)
    return free


@lie(7)
async def service_holds_somebody_back_until_the_others_are_in(liar: Liar) -> None:
    free = await held_back(liar)
    free.append(True)
    await liar.trial.settle()


async def waits(liar: Liar, count: int) -> None:
    """Until so many requests are not taken up."""
    store = await store_of(liar, MAIN)
    async with asyncio.timeout(20):
        while await store.zcard("{ms}:pending") != count:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await store.aclose()


@lie(5)
async def service_releases_a_group_after_its_epoch_was_closed(liar: Liar) -> None:
    held: list[PlainEvent] = []

    def later(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            if event.type is E.RELEASED and not held:
                held.append(event)
            else:
                out.append(event)
            if event.type is E.EPOCH_CLOSED:
                out += held
        return out

    liar.records(MAIN, later)
    await liar.trial.busy(1)
    await next_day(liar)


@lie(7)
async def service_releases_groups_and_never_sends_them(liar: Liar) -> None:
    async def nothing(self: Outbox, after: int) -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield

    liar.patch.setattr(Outbox, "follow", nothing)
    await liar.trial.consent()
    await liar.trial.ask("node1 question")
    for _ in range(3):
        liar.trial.leap(60.0)
        await liar.trial.ask("node1 question")


@lie(6)
async def service_puts_a_withdrawn_choice_back(liar: Liar) -> None:
    first: list[PlainEvent] = []

    def back(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            out.append(event)
            if event.type is E.CONSENT and not first:
                first.append(event)
            elif event.type is E.CONSENT and json.loads(event.fields)["version"] == 2:
                out.append(first[0])
        return out

    liar.records(MAIN, back)
    await liar.trial.consent("everything", PEOPLE[:1])
    await liar.trial.consent("nothing", PEOPLE[:1])


@lie(6)
async def service_hides_a_withdrawal_that_it_acknowledged(liar: Liar) -> None:
    def hidden(events: list[PlainEvent]) -> list[PlainEvent]:
        return [e for e in events if e.type is not E.CONSENT or json.loads(e.fields)["version"] == 1]

    liar.records(MAIN, hidden)
    await liar.trial.consent("everything", PEOPLE[:1])
    await liar.trial.consent("nothing", PEOPLE[:1])


@lie(6)
async def gateway_hides_a_choice_that_it_passed_on(liar: Liar) -> None:
    def hidden(events: list[PlainEvent]) -> list[PlainEvent]:
        return [e for e in events if e.type is not E.CONSENT or json.loads(e.fields)["version"] == 1]

    liar.records(GATEWAY, hidden)
    await liar.trial.consent("everything", PEOPLE[:1])
    await liar.trial.consent("nothing", PEOPLE[:1])


async def dropping(liar: Liar, reason: str) -> None:
    honest = GatewayStore.append

    async def append(self: GatewayStore, party: str, *group: Any, **more: Any) -> str:
        if party == "globex":
            more["reason"] = reason
        return await honest(self, party, *group, **more)

    liar.patch.setattr(GatewayStore, "append", append)
    await liar.trial.busy(1)


@lie(7, quick=True)
async def gateway_drops_for_one_party_what_everybody_consented_to(liar: Liar) -> None:
    await dropping(liar, "no_consent")


@lie(7)
async def gateway_drops_as_withdrawn_what_nobody_withdrew(liar: Liar) -> None:
    await dropping(liar, "withdrawn")


@lie(7)
async def gateway_drops_as_invalid_what_holds(liar: Liar) -> None:
    """Nobody but the two knows what the main service sent."""
    liar.hides = True
    await dropping(liar, "invalid")


@lie(7, quick=True)
async def service_sends_the_gateway_other_records_than_it_logs(liar: Liar) -> None:
    """They do not hold, and an honest gateway drops them."""
    liar.hides = True
    honest = main_service.rpc.encoded_to_wire

    def other(data: bytes) -> Any:
        record = honest(data)
        record.signature = bytes(len(record.signature))
        return record

    liar.patch.setattr(main_service.rpc, "encoded_to_wire", other)
    await liar.trial.busy(1)


@lie(7)
async def gateway_drops_for_a_reason_that_there_is_not(liar: Liar) -> None:
    await dropping(liar, "mislaid")


@lie(7)
async def gateway_drops_for_an_objection_that_nobody_made(liar: Liar) -> None:
    """What is under way may still be recorded: until two epochs later it is unchecked."""
    liar.hides = True
    await dropping(liar, "objected")
