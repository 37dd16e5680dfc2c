"""Lies in entries of an early release's form, which say too little to be held against anything (docs/adr/0040)."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from gateway.aliases import Aliases, Namer
from proxid.encoding import decode_text
from proxid.evidence.events import EpochOpened, EventType, encode_header
from proxid.protocol import record
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.encryptor import PlainEvent
from tests.support.lies import GATEWAY, MAIN, Liar, lie
from tests.support.lies_keys import gateway_gives_a_persons_name_to_another_key
from tests.support.lies_objections import exercise, passes_nothing_on, waits
from tests.support.lies_ported import (
    gateway_turns_people_away_for_requests_that_they_did_not_make,
    service_says_that_it_was_not_certain_of_what_somebody_opens,
    service_says_that_its_classifier_failed_on_what_somebody_opens,
)

E = EventType


def without(*left_out: str, **said: Any) -> Callable[[PlainEvent], PlainEvent]:
    """What leaves fields out of an event's header, and says others."""

    def older(event: PlainEvent) -> PlainEvent:
        fields = {name: value for name, value in json.loads(event.fields).items() if name not in left_out}
        return dataclasses.replace(event, fields=encode_header(**{**fields, **said}))

    return older


def without_payload(event: PlainEvent) -> PlainEvent:
    return dataclasses.replace(event, payload=b"")


@lie(3, quick=True)
async def gateway_gives_a_persons_name_to_another_key_in_entries_of_before(liar: Liar) -> None:
    """Those did not say when a key took the place of another, and the authority not that it may."""
    liar.hides = True
    liar.changes(GATEWAY, E.ENROLLED, without("v", "time"), times=99)
    await gateway_gives_a_persons_name_to_another_key(liar)


@lie(4, quick=True)
async def service_does_not_name_what_read_the_request_that_somebody_opens(liar: Liar) -> None:
    liar.hides = True
    liar.changes(MAIN, E.SUPPRESSED, without("pipeline"), times=99)
    await service_says_that_it_was_not_certain_of_what_somebody_opens(liar)


@lie(4)
async def service_does_not_name_what_failed_on_the_request_that_somebody_opens(liar: Liar) -> None:
    liar.hides = True
    liar.changes(MAIN, E.SUPPRESSED, without("pipeline"), times=99)
    await service_says_that_its_classifier_failed_on_what_somebody_opens(liar)


@lie(7)
async def service_withholds_whom_it_likes_and_says_no_more_than_that(liar: Liar) -> None:
    """Each audit tells of it, also one that goes on from the first."""
    liar.hides = True
    liar.changes(MAIN, E.SUPPRESSED, without("v", "kind", reason="unseasoned"), times=99)
    await liar.trial.consent()
    await liar.trial.ask("secret question")
    await liar.trial.settle()
    await liar.trial.audit(state=True)
    liar.options["state"] = True


@lie(7)
async def gateway_turns_people_away_in_entries_that_do_not_say_whom(liar: Liar) -> None:
    liar.hides = True
    liar.changes(GATEWAY, E.REFUSED, without("kind", "minute", "limit", v=2), times=99)
    await gateway_turns_people_away_for_requests_that_they_did_not_make(liar)


@lie(6)
async def gateway_records_an_objection_as_before_and_does_not_pass_it_on(liar: Liar) -> None:
    """Then the main service's promise stands nowhere, and what waits of the person goes on waiting."""
    liar.hides = True
    liar.changes(GATEWAY, E.OBJECTED, without(v=2), times=99)
    await waits(liar)
    passes_nothing_on(liar)
    await exercise(liar, Right.OBJECT)


@lie(3)
async def gateway_makes_names_as_before_there_were_keys_for_them(liar: Liar) -> None:
    """What a key of its own gives, nobody recomputes; so its log holds no feed keys of the epoch either."""
    liar.hides = True
    honest = Aliases.namer

    async def namer(self: Aliases, group: Any, naming: Any) -> Namer:
        made = await honest(self, group, naming)
        header, kind = group.records[0].header, decode_text(group.records[0].message.blocks[record.KIND])
        period = naming.period(kind, group.epoch, header.time_ms, False)
        return dataclasses.replace(made, period=period, key=self._screener.secret)

    def other(self: Namer, person: Any) -> str:
        if self.fidelity == "user_id":
            return str(person.user_id)
        return record.alias_before(self.key, self.party, self.period, person.user_id)

    def bare(event: PlainEvent) -> PlainEvent:
        opened = EpochOpened.decode(event.payload)
        return dataclasses.replace(event, payload=dataclasses.replace(opened, feeds=()).payload)

    liar.patch.setattr(Aliases, "namer", namer)
    liar.patch.setattr(Namer, "name", other)
    liar.changes(GATEWAY, E.EPOCH_OPENED, bare, times=99)
    await liar.trial.busy(1)
    await liar.trial.receive()


@lie(3)
async def gateway_shows_somebodys_data_twice_by_one_request(liar: Liar) -> None:
    """Whoever has the request of before can have it again; in the form of before that was no fault."""
    liar.hides = True

    def again(events: list[PlainEvent]) -> list[PlainEvent]:
        return [x for e in events for x in ([e, without("v")(e)] if e.type is E.ACCESSED else [e])]

    liar.records(GATEWAY, again)
    await liar.trial.busy(1)
    await exercise(liar, Right.ACCESS)
