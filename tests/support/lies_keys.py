"""Lies about the keys of people."""

import dataclasses
import json
from typing import Any

from gateway.store.links import LinkSteps
from proxid.crypto.identity import Enrolment
from proxid.evidence.events import EnrolledPayload, EventType, LinkedPayload
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.provision.keyfile import load_signing_key
from tests.integration.gateway.test_keys_of_people import at_home, revoke, taken
from tests.integration.gateway.test_rights import rights
from tests.support.lies import GATEWAY, Liar, keys_kept_live, lie, store_of
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


async def _forget(liar: Liar, pattern: str) -> None:
    """The gateway forgets keys of its store."""
    store = await store_of(liar, GATEWAY)
    for name in [name async for name in store.scan_iter(match=pattern)]:
        await store.delete(name)
    await store.aclose()


@lie(3)
async def gateway_links_by_a_key_that_was_revoked(liar: Liar) -> None:
    revoke(liar.trial, PEOPLE[1])
    await taken(liar.trial)
    await _forget(liar, "{gw}:eo:*")
    await liar.trial.busy(1)


@lie(3)
async def gateway_forwards_what_comes_under_a_key_that_was_revoked(liar: Liar) -> None:
    trial = liar.trial
    await trial.busy(1)
    async with keys_kept_live(liar):
        revoke(trial, PEOPLE[1])
        await taken(trial)
    await trial.ask("node words", PEOPLE[1:2])


@lie(3)
async def gateway_gives_a_revoked_key_the_persons_data(liar: Liar) -> None:
    trial = liar.trial
    await trial.busy(1)
    revoke(trial, PEOPLE[1])
    await taken(trial)
    await _forget(liar, "{gw}:eo:*")
    for clock in trial.clocks.values():
        clock.passed += 600
    client = rights(trial)
    client._clock = trial.clocks["device"].wall
    await client.exercise(Right.ACCESS, PEOPLE[1])
    await client.close()


@lie(3)
async def gateway_gives_a_persons_name_to_another_key(liar: Liar) -> None:
    """The authority enrolled somebody under the same name, and did not say that they take the person's place."""
    trial, honest = liar.trial, LinkSteps.link
    await trial.busy(1)
    held = trial.device._users[PEOPLE[1]].key.public

    async def link(self: Any, *said: Any, **more: Any) -> Any:
        return await honest(self, *said[:8], (held,), *said[9:], **more)

    liar.patch.setattr(LinkSteps, "link", link)
    trial.leap(1)
    other = at_home(trial, "other", PEOPLE[1])
    user, key = other._users[PEOPLE[1]], load_signing_key(trial.folder / "ea/signing.key")
    user.enrolment = Enrolment.issue(PEOPLE[1], user.key.public, 1, key)
    await other.session(PEOPLE[1])
    await other.close()
