"""Lies about the keys of people."""

import dataclasses
import json

from proxid.crypto.identity import Enrolment
from proxid.evidence.events import EnrolledPayload, EventType, LinkedPayload
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.provision.keyfile import load_signing_key
from tests.integration.gateway.test_rights import rights
from tests.support.lies import GATEWAY, Liar, lie
from tests.support.trial import PEOPLE

E = EventType


@lie(3)
async def gateway_takes_an_objection_back_by_a_request_of_before(liar: Liar) -> None:
    """The person resumed, objected again; the gateway says once more that they resumed."""
    resumed: list[PlainEvent] = []

    def again(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            out.append(event)
            if event.type is E.OBJECTED and json.loads(event.fields)["right"] == "resume":
                resumed.append(event)
            elif event.type is E.OBJECTED and resumed:
                out.append(resumed[0])
        return out

    liar.records(GATEWAY, again)
    await liar.trial.busy(1)
    client = rights(liar.trial)
    for right in (Right.OBJECT, Right.RESUME, Right.OBJECT):
        await client.exercise(right, PEOPLE[1])
    await client.close()


@lie(3)
async def gateway_links_by_an_enrolment_that_has_ended(liar: Liar) -> None:
    key = load_signing_key(liar.trial.folder / "ea/signing.key")

    def ended(data: bytes) -> bytes:
        said = Enrolment.decode(data)
        return Enrolment.issue(said.user_id, said.user_key, said.since, key, said.since + 1).encode()

    def linked(payload: bytes) -> bytes:
        said = LinkedPayload.decode(payload)
        return dataclasses.replace(said, enrolment=ended(said.enrolment)).encode()

    liar.payloads(GATEWAY, E.LINKED, linked)
    await liar.trial.busy(1)


@lie(3)
async def gateway_links_by_a_key_that_was_replaced(liar: Liar) -> None:
    """The authority enrolled another key; the log says so before the link by the old one."""
    key = load_signing_key(liar.trial.folder / "ea/signing.key")

    def replaced(payload: bytes) -> bytes:
        said = EnrolledPayload.decode(payload)
        enrolment = Enrolment.decode(said.enrolment)
        other = Enrolment.issue(enrolment.user_id, key.public, enrolment.since, key)
        return EnrolledPayload(other.encode(), said.prox_id).encode()

    liar.payloads(GATEWAY, E.ENROLLED, replaced)
    await liar.trial.busy(1)
