"""Lies about places under noise, of which a person may report a few in an epoch (DESIGN 8.8)."""

import asyncio
from typing import Any, Final

from main_service.intake import Anonymiser
from main_service.jobs.classification import Classification
from proxid.evidence.events import EventType
from tests.integration.main_service.test_place_noise import BUDGET, EPSILON, HERE, THERE, PlaceTrial
from tests.support.lies import MAIN, Liar, lie, unseen
from tests.support.lies_first_forms import without_payload
from tests.support.trial import PEOPLE

NOISY: Final[dict[str, Any]] = {
    "kind": PlaceTrial,
    "anonymiser": {
        "k": 2, "time_slots": ["1 s", "2 s", "1 d"], "finest_resolution": 2, "place_epsilon": EPSILON,
        "place_budget": BUDGET,
    },
}  # fmt: skip
"""There is a budget for two places."""


async def asks_from(liar: Liar, *points: tuple[float, float]) -> None:
    for point in points:
        await liar.trial.ask_from(point)  # type: ignore[attr-defined]
        await liar.trial.settle()
        await asyncio.sleep(1.1)  # the next slot


def says_too_many(liar: Liar, prox_id: str) -> None:
    """From now on any place of a person's is one too many."""
    honest = Classification._may_report

    async def may(self: Classification, epoch: int, decision: Any) -> bool:
        return decision.payload.prox_id != prox_id and await honest(self, epoch, decision)

    liar.patch.setattr(Classification, "_may_report", may)


async def _says_of_the_third(liar: Liar) -> None:
    await liar.trial.consent()
    await asks_from(liar, HERE, THERE)
    says_too_many(liar, (await liar.trial.device.session(PEOPLE[0])).prox_id)
    await asks_from(liar, HERE)


@lie(5, **NOISY)
async def service_says_of_a_place_that_was_paid_for_that_it_is_one_too_many(liar: Liar) -> None:
    """As many others had been reported as may be."""
    await _says_of_the_third(liar)


@lie(7, **NOISY)
async def service_does_not_say_which_place_was_one_too_many(liar: Liar) -> None:
    """As in the form of before, in which no event said it."""
    liar.hides = True
    liar.changes(MAIN, EventType.SUPPRESSED, without_payload, times=99)
    await _says_of_the_third(liar)


@unseen("places", **NOISY)
async def service_says_that_a_place_was_paid_for_that_nothing_waited_at(liar: Liar) -> None:
    """As if it had been killed in between."""
    await liar.trial.consent()
    await asks_from(liar, HERE)
    says_too_many(liar, (await liar.trial.device.session(PEOPLE[0])).prox_id)
    await asks_from(liar, THERE)


@lie(5, kind=PlaceTrial, anonymiser={"k": 2, "time_slots": ["1 s", "2 s", "1 d"], "finest_resolution": 2})
async def service_files_a_place_coarser_than_it_need_be(liar: Liar) -> None:
    """So it chooses with whom somebody waits."""
    honest = Anonymiser._location

    def coarse(self: Anonymiser, pending: Any, found: Any, audience: str, cells: tuple[str, ...]) -> Any:
        return honest(self, pending, found, audience, cells[:1])

    liar.patch.setattr(Anonymiser, "_location", coarse)
    await liar.trial.consent()
    await asks_from(liar, HERE)
