"""Lies about slots, in which commands and location queries wait: how their groups are numbered, and when they end."""

from typing import Any

import main_service.integrator
import main_service.store.slots
from main_service.store.slots import SlotStore
from proxid.anonymise.slotted.types import Closing
from proxid.evidence.events import EventType
from proxid.protocol.record import group_number
from tests.support.commands import SHORT_SLOTS, CommandTrial
from tests.support.lies import MAIN, Liar, lie
from tests.support.lies_epochs import headed
from tests.support.trial import PEOPLE

E = EventType


@lie(5, kind=CommandTrial, anonymiser=SHORT_SLOTS)
async def service_picks_the_number_of_a_group_of_commands(liar: Liar) -> None:
    """The order in which people stand follows from it: of a few numbers one gives the order that they came in."""
    later = lambda kind, number: group_number(kind, number + 6)  # noqa: E731
    for module in (main_service.integrator, main_service.store.slots):
        liar.patch.setattr(module, "group_number", later)
    await liar.trial.consent()
    await liar.trial.commands(2)  # type: ignore[attr-defined]
    await liar.trial.slots_over()  # type: ignore[attr-defined]


@lie(5, kind=CommandTrial, anonymiser=SHORT_SLOTS, morning=True)
async def service_says_that_hours_have_passed_and_ends_a_slot(liar: Liar) -> None:
    """Whoever gives a command later that day waits for others; all who gave one so far leave, and nobody moves up."""
    liar.hides = True  # a clock that was wrong says the same
    honest, hours = SlotStore.close, list[float]()

    async def close(self: SlotStore, epoch: int, kind: str, now: float) -> Closing:
        return await honest(self, epoch, kind, now + hours[0]) if hours else Closing((), (), ())

    liar.patch.setattr(SlotStore, "close", close)
    await liar.trial.consent()
    await liar.trial.ask("do it")
    await liar.trial.classified()
    hours.append(3 * 3600.0)
    await liar.trial.slots_over()  # type: ignore[attr-defined]
    await liar.trial.ask("node1 question")
    await liar.trial.settle()


async def _takes_back(liar: Liar, **changes: Any) -> None:
    """Somebody takes everything back while something of theirs waits."""
    liar.changes(MAIN, E.WITHDRAWN, lambda event: headed(event, **changes), times=99)
    await liar.trial.consent()
    await liar.trial.ask("node1 question", PEOPLE[:1])
    await liar.trial.classified()
    await liar.trial.consent("nothing", PEOPLE[:1])
    await liar.trial.settle()


@lie(5)
async def service_says_that_what_was_taken_back_had_left(liar: Liar) -> None:
    """Nothing leaves but in groups: it would be counted as waiting."""
    await _takes_back(liar, left=True)


@lie(5)
async def service_says_of_what_was_taken_back_that_it_had_not_left(liar: Liar) -> None:
    await _takes_back(liar, left=False)
