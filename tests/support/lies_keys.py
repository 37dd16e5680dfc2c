"""Lies about the keys of people."""

import dataclasses
import json
from typing import Any

from gateway.identity import Screener
from gateway.store.links import LinkSteps
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.crypto.identity import Enrolment
from proxid.evidence.events import EnrolledPayload, EventType, LinkedPayload
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.provision.keyfile import load_signing_key
from tests.integration.gateway.test_keys_of_people import at_home, revoke, taken
from tests.integration.gateway.test_rights import rights
from tests.support.lies import GATEWAY, Liar, keys_kept_live, lie, store_of
from tests.support.lies_epochs import DAY, patiently
from tests.support.lies_unsaid import HOUR, early, later
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


def takes_what_is_not_fresh(liar: Liar) -> None:
    liar.patch.setattr(Screener, "verify_fresh", lambda *_: None)


async def asks(liar: Liar, right: Right, when: float) -> None:
    """Somebody's signed request says a time, so many seconds from now."""
    wall = liar.trial.clocks["gateway"].wall
    config = load(DeviceConfig, liar.trial.folder / "devices/household-1/device.toml")
    client = RightsClient(config, liar.trial.device, lambda: wall() + when)
    await client.exercise(right, PEOPLE[0])
    await client.close()


@lie(3, quick=True)
async def gateway_shows_somebodys_data_by_a_request_of_days_before(liar: Liar) -> None:
    """Which it had kept, and answered nothing."""
    liar.hides = True
    takes_what_is_not_fresh(liar)
    await liar.trial.busy(1)
    await asks(liar, Right.ACCESS, -3 * DAY)


@lie(3)
async def gateway_shows_somebodys_data_by_a_request_for_later(liar: Liar) -> None:
    """Signed to spare."""
    liar.hides = True
    takes_what_is_not_fresh(liar)
    await liar.trial.busy(1)
    await asks(liar, Right.ACCESS, 3 * DAY)
    await liar.trial.ask("node3 question", PEOPLE[1:3])
    await liar.trial.settle()


@lie(3)
async def gateway_puts_a_choice_into_effect_that_was_made_hours_before(liar: Liar) -> None:
    """The person had been told that it could not be, and knows of no choice that they made since."""
    liar.hides = True
    takes_what_is_not_fresh(liar)
    await early(liar)
    await later(liar, 3 * HOUR, "node1 question", PEOPLE[1])
    liar.trial.clocks["device"].set -= 2 * HOUR
    await patiently(lambda: liar.trial.consent("nothing", PEOPLE[:1]))


@lie(3)
async def gateway_carries_an_objection_out_when_it_likes(liar: Liar) -> None:
    """People asked and were answered for hours, and it was not taken up before."""
    liar.hides = True
    takes_what_is_not_fresh(liar)
    await early(liar)
    for _ in range(5):
        await later(liar, HOUR, "node1 question", PEOPLE[1])
    await asks(liar, Right.OBJECT, -4.5 * HOUR)
