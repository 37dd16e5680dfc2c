"""Lies about how old an account was when its epoch key was linked, which counts towards k from some age on."""

import dataclasses
import json
from typing import Any, Final

import gateway.links
from proxid.evidence.events import EventType, encode_header
from proxid.runtime.evidence_log.encryptor import PlainEvent
from tests.support.lies import GATEWAY, Liar, lie
from tests.support.trial import PEOPLE

QUARTER: Final = 0.01
"""Of an hour (14 minutes), in days: people of a trial have been enrolled for thirty."""
_DAY: Final = 86_400


def says(liar: Liar, seasoned: bool) -> None:
    """The gateway says it of everybody, and goes by that itself."""
    honest = gateway.links.Credential
    made = lambda **said: honest(**{**said, "seasoned": seasoned})  # noqa: E731
    made.decode = honest.decode  # type: ignore[attr-defined]
    liar.patch.setattr(gateway.links, "Credential", made)


def enrolled_at(liar: Liar, days: float) -> None:
    """Its log says that people were enrolled, and linked in that step, so many days later than they were."""

    def later(event: PlainEvent) -> PlainEvent:
        fields: dict[str, Any] = json.loads(event.fields)
        fields["time"] += int(days * _DAY)
        return dataclasses.replace(event, fields=encode_header(**fields))

    liar.changes(GATEWAY, EventType.ENROLLED, later, times=99)


@lie(3, quick=True, season_days=30 + QUARTER)
async def gateway_counts_an_account_as_seasoned_a_quarter_of_an_hour_early(liar: Liar) -> None:
    says(liar, True)
    await liar.trial.busy(1)


@lie(3, season_days=30 + QUARTER)
async def gateway_counts_an_account_as_seasoned_early_and_says_that_it_was_later(liar: Liar) -> None:
    """What was asked behind it shows that it was not; a clock that was wrong says the same."""
    liar.hides = True
    says(liar, True)
    enrolled_at(liar, QUARTER)
    await liar.trial.busy(1)


@lie(3, season_days=30 - QUARTER)
async def gateway_does_not_count_an_account_as_seasoned_a_quarter_of_an_hour_late(liar: Liar) -> None:
    says(liar, False)
    await liar.trial.busy(1)


@lie(3, season_days=30 - QUARTER)
async def gateway_does_not_count_a_seasoned_account_and_says_that_it_was_earlier(liar: Liar) -> None:
    """What somebody else asked before it shows that it was not."""
    liar.hides = True
    says(liar, False)
    enrolled_at(liar, -QUARTER)
    await liar.trial.consent("everything", PEOPLE[:1])
    await liar.trial.ask("an earlier question", PEOPLE[:1])
    await liar.trial.busy(1)
