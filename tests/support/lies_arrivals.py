"""Lies told in when requests are taken up: who is held back may choose with whom to wait."""

import asyncio

from main_service.store.requests import Pending, RequestStore
from proxid.evidence.events import EventType
from proxid.runtime.evidence_log.encryptor import PlainEvent
from tests.support.lies import MAIN, Liar, lie, unseen
from tests.support.lies_epochs import patiently
from tests.support.lies_reasons import named, waits
from tests.support.lies_unsaid import HOUR, early
from tests.support.trial import PEOPLE

E = EventType


def holds_back(liar: Liar, *prox_ids: str) -> list[bool]:
    """Requests of these people, or of all, are not taken up until something is in the list that is returned."""
    honest, free = RequestStore.pending, list[bool]()

    async def pending(self: RequestStore, limit: int) -> list[Pending]:
        rows = await honest(self, limit)
        return [row for row in rows if free or (prox_ids and row.prox_id not in prox_ids)]

    liar.patch.setattr(RequestStore, "pending", pending)
    return free


@lie(7)
async def service_holds_somebody_back_behind_requests_of_who_allows_nothing(liar: Liar) -> None:
    """Those end in the step in which they are received, and nobody waits for them."""
    held: list[PlainEvent] = []
    nobody = set[str]()

    def later(events: list[PlainEvent]) -> list[PlainEvent]:
        out = []
        for event in events:
            if event.type is E.SUPPRESSED and not free and named(event) in nobody:
                held.append(event)
                continue
            out.append(event)
            if event.type is E.RECEIVED and len(nobody) < 6:
                nobody.add(named(event))
            if free and event.type is E.BUFFERED:
                out += held
                held.clear()
        return out

    liar.patch.setattr("auditor.checks.c7_arrivals.BOUND", 4)
    await liar.trial.consent("everything", PEOPLE[:7])
    await liar.trial.consent("nothing", PEOPLE[7:])
    liar.records(MAIN, later)
    free = holds_back(liar, (await liar.trial.device.session(PEOPLE[0])).prox_id)
    for _ in range(6):
        await liar.trial.ask("node1 question", PEOPLE[7:])
    await liar.trial.ask("node1 question", PEOPLE[:1])
    for person in PEOPLE[1:7]:
        await liar.trial.ask("node1 question", (person,))
    await waits(liar, 1)
    free.append(True)
    await liar.trial.settle()


@unseen("order")
async def service_takes_somebody_up_after_those_who_came_later(liar: Liar) -> None:
    await liar.trial.consent()
    free = holds_back(liar, (await liar.trial.device.session(PEOPLE[0])).prox_id)
    for person in PEOPLE[:4]:
        await liar.trial.ask("node1 question", (person,))
    await waits(liar, 1)
    free.append(True)
    await liar.trial.settle()


async def for_hours(liar: Liar, *texts: str) -> None:
    """People ask once an hour, and nobody is taken up until they have."""
    free = holds_back(liar)
    for text in texts:
        await patiently(lambda text=text: liar.trial.ask(text))  # type: ignore[misc]
        for clock in liar.trial.clocks.values():
            clock.passed += HOUR
        await asyncio.sleep(1.5)  # what time lets go goes
    free.append(True)
    await liar.trial.settle()


@lie(7)
async def service_takes_nobody_up_while_people_ask_for_hours(liar: Liar) -> None:
    await early(liar)
    await for_hours(liar, "node1 question", "node2 question", "node1 again")
