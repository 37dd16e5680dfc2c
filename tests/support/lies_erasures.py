"""Lies about erasures: what of a person is erased, whose evidence goes with it, and what is done afterwards."""

import dataclasses
import json
import os
import time
from collections.abc import Callable
from typing import Any

from gateway.store.library import GatewayStore
from gateway.store.rights import RightsStore, Subject
from proxid.evidence.events import EventType, LinkedPayload, encode_header
from proxid.evidence.ratchet import owner_commitment, owner_salt
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.encryptor import PlainEvent
from tests.support.lies import GATEWAY, MAIN, Liar, lie, store_of
from tests.support.lies_epochs import headed
from tests.support.lies_parties import exercise, read_in_silence, waiting
from tests.support.lies_unsaid import another
from tests.support.trial import PEOPLE

E = EventType
ERASED, OTHER = PEOPLE[1], PEOPLE[2]
"""Who is erased, as `exercise` has it, and who is not."""


def erases(liar: Liar, of: Callable[[tuple[Subject, ...]], tuple[Subject, ...]]) -> None:
    """The gateway erases other person-epochs than the person has."""
    honest = RightsStore.erasure

    async def erasure(self: RightsStore, user_tag: str) -> Any:
        job = await honest(self, user_tag)
        return dataclasses.replace(job, subjects=of(job.subjects))

    liar.patch.setattr(RightsStore, "erasure", erasure)


@lie(8, quick=True)
async def gateway_says_that_it_erases_somebody_and_keeps_all_their_evidence(liar: Liar) -> None:
    await liar.trial.busy(1)
    erases(liar, lambda _: ())
    await exercise(liar, Right.ERASE)


async def subject_of(liar: Liar, store: Any, person: str) -> Subject:
    """The person-epoch of the newest epoch."""
    prox_id = (await liar.trial.device.session(person)).prox_id
    async for name in store.scan_iter(match="{gw}:s:*"):
        for tag, value in (await store.hgetall(name)).items():
            epoch, _, linked = value.decode().partition("|")
            if linked == prox_id:
                return Subject(tag.decode(), int(epoch), prox_id)
    raise AssertionError("nobody is linked")


@lie(2, quick=True)
async def gateway_links_somebodys_evidence_to_another_who_is_erased(liar: Liar) -> None:
    """The second link cannot be read any more, and says that the evidence is of who asks for it to be erased."""
    await liar.trial.busy(1)
    client = await store_of(liar, GATEWAY)
    store, subject = GatewayStore(client), await subject_of(liar, client, OTHER)
    (seed,) = await store.evidence_keys([bytes.fromhex(subject.tag)])
    (credential,) = await RightsStore(store).credentials([subject])
    await client.aclose()
    fields = encode_header(epoch=subject.epoch, owner=owner_commitment(ERASED, owner_salt(seed)).hex())
    payload = LinkedPayload(b"", b"", credential, b"").encode()
    again = PlainEvent(0, E.LINKED, os.urandom(16), fields, payload)
    liar.records(GATEWAY, lambda events: [x for e in events for x in ([again, e] if e.type is E.ERASED else [e])])
    erases(liar, lambda subjects: (*subjects, subject))
    await exercise(liar, Right.ERASE)


@lie(8)
async def gateway_forwards_what_somebody_asks_whom_it_has_erased(liar: Liar) -> None:
    """Nobody can read it, as nobody can read what was before."""
    await liar.trial.busy(1)
    session: list[str] = []
    held: list[PlainEvent] = []

    def late(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            named = json.loads(event.fields).get("session")
            if event.type is E.FORWARDED and not session:
                session.append(named)
            if event.type in (E.FORWARDED, E.ANSWERED) and session == [named]:
                held.append(event)
                continue
            out += [event, *held] if event.type is E.ERASED else [event]
        return out

    liar.records(GATEWAY, late)
    await liar.trial.ask("secret question", [ERASED])
    await liar.trial.settle()
    await exercise(liar, Right.ERASE)
    assert len(held) == 2


@lie(8)
async def gateway_sends_what_is_of_somebody_erased_to_a_party_that_keeps_silent(liar: Liar) -> None:
    """It says of it, after the erasure, that it was sent."""
    await waiting(liar)
    held: list[PlainEvent] = []
    dropped: list[PlainEvent] = []

    def erased(event: PlainEvent) -> PlainEvent:
        said: dict[str, Any] = json.loads(event.fields)
        feeds = dict(text.rsplit(":", 1) for text in said["feeds"])
        feeds["acme"] = int(feeds["acme"]) + len(dropped)
        others = {name: [x for x in said[name] if not x.endswith("/acme")] for name in ("dropped", "removed")}
        return headed(event, feeds=[f"{party}:{n}" for party, n in feeds.items()], **others)

    def late(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            to = json.loads(event.fields).get("party")
            if event.type in (E.SENT, E.DROPPED) and to == "acme":
                (held if event.type is E.SENT else dropped).append(event)
                continue
            out += [erased(event), *held] if event.type is E.ERASED else [event]
        return out

    liar.records(GATEWAY, late)
    await read_in_silence(liar)
    await exercise(liar, Right.ERASE)
    assert held


async def beside_an_erasure(liar: Liar, kind: EventType, **fields: Any) -> None:
    """Somebody whose record waits is erased; the main service says something of what another waits with."""
    named: list[dict[str, Any]] = []

    def told(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            out.append(event)
            if event.type is E.BUFFERED:
                named.append(json.loads(event.fields))
            elif event.type is E.ERASED:
                last = named[-1]
                out.append(another(event, kind, epoch=last["epoch"], session=last["session"], **fields))
        return out

    await liar.trial.consent()
    liar.records(MAIN, told)
    for node, person in (("node1", ERASED), ("node2", OTHER)):
        await liar.trial.ask(f"{node} question", [person])
        await liar.trial.settle()
    await exercise(liar, Right.ERASE)


@lie(6)
async def service_takes_back_what_waits_beside_somebody_erased(liar: Liar) -> None:
    """What formed cannot be replayed any more; who took something back can be told all the same."""
    liar.hides = True
    await beside_an_erasure(liar, E.WITHDRAWN)


@lie(5)
async def service_gives_up_beside_somebody_erased_for_a_reason_that_there_is_not(liar: Liar) -> None:
    await beside_an_erasure(liar, E.SUPPRESSED, reason="unwanted", time=str(time.time()))
