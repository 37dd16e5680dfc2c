"""Lies about how old an account was when its epoch key was linked, which counts towards k from some age on."""

import dataclasses
import json
from typing import Any, Final

import pytest

import gateway.links
from auditor.findings import Verdict
from proxid.evidence.checkpoint import Checkpoint
from proxid.evidence.events import EventType, encode_header
from proxid.evidence.merkle import Frontier
from proxid.runtime.evidence_log.encryptor import PlainEvent
from proxid.runtime.evidence_log.segments import read_leaves
from proxid.runtime.evidence_log.servicer import EvidenceService
from proxid.runtime.provision.keyfile import load_signing_key
from tests.support.lies import GATEWAY, Liar, lie, no_wait
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


@lie(3, season_days=30 + QUARTER)
async def gateway_counts_an_account_as_seasoned_early_behind_the_head_of_an_audit(liar: Liar) -> None:
    """The head lies between enrolment and link, and nobody asks anything until the account is as old as it says."""
    says(liar, True)
    await liar.trial.device.session(PEOPLE[0])
    await liar.trial.audit()  # the log has caught up
    with pytest.MonkeyPatch.context() as patch:
        shows_up_to(Liar(liar.trial, patch), GATEWAY, EventType.ENROLLED)
        assert (await liar.trial.audit(state=True)).verdict is Verdict.CLEAN
    for clock in liar.trial.clocks.values():
        clock.passed += 1.2 * QUARTER * _DAY
    await liar.trial.busy(1)
    liar.options = {"state": True}


def shows_up_to(liar: Liar, role: str, kind: EventType) -> None:
    """The newest head that a service shows is of its first entry of a type, and signed."""
    folder = liar.trial.folder / role

    def head(newest: Checkpoint) -> Checkpoint:
        frontier = Frontier()
        for leaf in read_leaves(folder / "data/evidence/segments", 1, newest.size + 1):
            frontier.append(leaf.hash)
            if leaf.known.type is kind:
                break
        return dataclasses.replace(newest, size=frontier.size, root=frontier.root)

    liar.patch.setattr(EvidenceService, "_wait", no_wait)
    liar.heads(role, head, load_signing_key(folder / "signing.key"))


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
