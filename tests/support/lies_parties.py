"""Lies about parties: what they were sent, and what they were told of whom."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from gateway.notices import Notices
from gateway.store.library import GatewayStore
from gateway.store.rights import PutNotice, Recipient, RightsStore
from proxid.evidence.events import EventType, encode_header
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.encryptor import PlainEvent
from tests.integration.gateway.test_rights import rights
from tests.support.lies import GATEWAY, Liar, lie, store_of, unseen
from tests.support.lies_epochs import DAY, next_day, patiently
from tests.support.trial import PEOPLE

E = EventType


def silent(liar: Liar, older: bool = False) -> None:
    """The gateway says of nothing that it was sent; and of deliveries what one that never said that did, if `older`."""

    def said(events: list[PlainEvent]) -> list[PlainEvent]:
        return [_older(event) if older else event for event in events if event.type is not E.SENT]

    liar.records(GATEWAY, said)


def _older(event: PlainEvent) -> PlainEvent:
    if event.type is not E.DELIVERED:
        return event
    fields = json.loads(event.fields)
    del fields["ack"]
    return dataclasses.replace(event, fields=encode_header(**fields))


@lie(7, quick=True)
async def gateway_never_says_what_it_sent(liar: Liar) -> None:
    silent(liar)
    await liar.trial.busy(1)


@lie(7)
async def gateway_says_what_it_sent_no_more_than_one_of_long_before(liar: Liar) -> None:
    """As if it were of a release that did not know how."""
    liar.hides = True
    silent(liar, older=True)
    await liar.trial.busy(1)


@unseen("possibly_held")
async def gateway_does_not_say_that_it_sent_what_a_party_keeps_silent_about(liar: Liar) -> None:
    silent(liar)
    await waiting(liar)
    await read_in_silence(liar)


async def waiting(liar: Liar) -> None:
    """Everybody is in a group that waits for both parties."""
    await liar.trial.consent()
    await liar.trial.ask("node1 question")
    await liar.trial.settle()


async def read_in_silence(liar: Liar) -> None:
    """A party gets all that waits for it, and acknowledges nothing."""
    store = await store_of(liar, GATEWAY)
    assert await GatewayStore(store).take("acme", 0, 8)
    await store.aclose()


async def exercise(liar: Liar, right: Right) -> None:
    client = rights(liar.trial)
    await client.exercise(right, PEOPLE[1])
    await client.close()


def knows_no_recipients(liar: Liar) -> None:
    """Whoever is to be told, there is nobody."""
    honest = RightsStore.erasure

    async def erasure(self: RightsStore, user_tag: str) -> Any:
        return dataclasses.replace(await honest(self, user_tag), recipients=())

    liar.patch.setattr(RightsStore, "erasure", erasure)


@lie(8)
async def gateway_tells_nobody_of_an_objection(liar: Liar) -> None:
    """A party that is not told may be about to leave: the next epoch shows that it has not."""
    await liar.trial.busy(1)
    knows_no_recipients(liar)
    await exercise(liar, Right.OBJECT)
    await next_day(liar)


@lie(8)
async def gateway_has_just_told_nobody_of_an_objection(liar: Liar) -> None:
    liar.hides = True
    await liar.trial.busy(1)
    knows_no_recipients(liar)
    await exercise(liar, Right.OBJECT)


@lie(8)
async def gateway_says_that_a_party_has_left_which_it_does_not_tell_of_an_erasure(liar: Liar) -> None:
    liar.hides = True  # the next epoch shows it
    await liar.trial.busy(1)
    liar.patch.setattr(Notices, "make", lambda *_: [])
    await exercise(liar, Right.ERASE)


@lie(8)
async def gateway_tells_no_party_of_an_objection_that_keeps_silent_about_what_it_got(liar: Liar) -> None:
    await waiting(liar)
    await read_in_silence(liar)
    knows_no_recipients(liar)
    await exercise(liar, Right.OBJECT)
    await next_day(liar)


@lie(8)
async def gateway_tells_no_party_of_an_erasure_that_keeps_silent_about_what_it_got(liar: Liar) -> None:
    await waiting(liar)
    await read_in_silence(liar)
    knows_no_recipients(liar)
    await exercise(liar, Right.ERASE)
    liar.trial.leap(60.0)
    await patiently(lambda: liar.trial.ask("node2 question", PEOPLE[2:4]))


def keeps_notices(liar: Liar) -> None:
    """Notices are made, and named in the log, and go to nobody."""

    async def none(self: Notices, party: str) -> list[tuple[str, bytes]]:
        return []

    liar.patch.setattr(Notices, "waiting", none)


async def goes_on(liar: Liar, people: Sequence[str]) -> None:
    """Days later parties get more."""
    for clock in liar.trial.clocks.values():
        clock.passed += 5 * DAY
    await patiently(lambda: liar.trial.consent(people=people))
    await liar.trial.ask("node1 question", people)
    await liar.trial.settle()
    await liar.trial.receive()


@lie(8)
async def gateway_never_sends_the_notice_of_an_erasure(liar: Liar) -> None:
    """The party may have got it and keep silent about that alone."""
    liar.hides = True
    await liar.trial.busy(1)
    keeps_notices(liar)
    await exercise(liar, Right.ERASE)
    await goes_on(liar, (PEOPLE[0], *PEOPLE[2:]))


@lie(8)
async def gateway_never_sends_the_notice_of_an_objection(liar: Liar) -> None:
    liar.hides = True
    await liar.trial.busy(1)
    keeps_notices(liar)
    await exercise(liar, Right.OBJECT)
    await goes_on(liar, (PEOPLE[0], *PEOPLE[2:]))


@lie(7)
async def gateway_keeps_a_group_from_a_party_that_gets_others(liar: Liar) -> None:
    """So it chooses what a party has of whom: nothing says that it was sent, nor that it was dropped."""
    liar.hides = True  # the party may have asked for what is behind it
    honest = GatewayStore.take

    async def take(self: GatewayStore, party: str, after: int, limit: int) -> Any:
        return await honest(self, party, max(after, 1) if party == "acme" else after, limit)

    liar.patch.setattr(GatewayStore, "take", take)
    await liar.trial.busy(1)
    await goes_on(liar, PEOPLE)


@unseen("notices")
async def gateway_keeps_a_notice_from_a_party_that_does_not_come_again(liar: Liar) -> None:
    await liar.trial.busy(1)
    keeps_notices(liar)
    await exercise(liar, Right.ERASE)


@unseen("notice_names")
async def gateway_tells_a_party_that_somebody_else_was_erased(liar: Liar) -> None:
    """The party deletes nothing, or what is another's; whoever asked can look (`rights status`)."""
    honest = Notices._made

    def made(self: Notices, kind: str, user_id: str, recipient: Recipient) -> PutNotice:
        return honest(self, kind, user_id, dataclasses.replace(recipient, name="nobody"))

    await liar.trial.busy(1)
    liar.patch.setattr(Notices, "_made", made)
    await exercise(liar, Right.ERASE)


@unseen("notice_names")
async def gateway_tells_a_party_of_somebody_of_whom_it_got_nothing(liar: Liar) -> None:
    """So it learns of them."""
    honest = RightsStore.erasure

    async def erasure(self: RightsStore, user_tag: str) -> Any:
        job = await honest(self, user_tag)
        return dataclasses.replace(job, recipients=(*job.recipients, Recipient("globex", PEOPLE[1], 1)))

    await liar.trial.consent("only-acme")
    await liar.trial.ask("node1 question")
    await liar.trial.settle()
    await liar.trial.receive()
    liar.patch.setattr(RightsStore, "erasure", erasure)
    await exercise(liar, Right.OBJECT)
