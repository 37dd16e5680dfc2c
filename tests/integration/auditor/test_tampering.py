"""Tampering (DESIGN 10.4): every lie is told by a real, running service or lies in its files, and is caught by name.

A few lies run with every test; the rest is slow.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

# Each registers its lies.
import tests.support.lies_arrivals
import tests.support.lies_epochs
import tests.support.lies_erasures
import tests.support.lies_expiry
import tests.support.lies_first_forms
import tests.support.lies_headers
import tests.support.lies_keys
import tests.support.lies_lost
import tests.support.lies_objections
import tests.support.lies_parties
import tests.support.lies_places
import tests.support.lies_ported
import tests.support.lies_promised
import tests.support.lies_reasons
import tests.support.lies_screener
import tests.support.lies_seasons
import tests.support.lies_service
import tests.support.lies_slots
import tests.support.lies_stored
import tests.support.lies_unsaid
import tests.support.lies_unshown
from auditor.findings import Verdict
from tests.support.lies import GATEWAY, HOUSES, LIES, MAIN, UNSEEN, Liar
from tests.support.trial import running

TOLD_BY_NAME = {
    module.__name__
    for module in (
        tests.support.lies_erasures, tests.support.lies_keys, tests.support.lies_lost, tests.support.lies_objections,
        tests.support.lies_parties,
    )
}  # fmt: skip
"""Modules whose lies are told by the one that their names begin with."""


@pytest.mark.parametrize(("check", "tell"), LIES)
async def test_every_lie_is_caught_by_its_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: int, tell: Callable[[Liar], Awaitable[None]]
) -> None:
    async with running(tmp_path, **HOUSES[tell]) as trial:
        liar = Liar(trial, monkeypatch)
        await tell(liar)
        assert check in await liar.caught()
        if tell.__module__ in TOLD_BY_NAME:  # the main service goes by the gateway's word
            assert liar.accused <= {GATEWAY if tell.__name__.startswith("gateway") else MAIN}


@pytest.mark.parametrize(("row", "tell"), UNSEEN)
async def test_what_no_audit_can_see_is_a_row_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str, tell: Callable[[Liar], Awaitable[None]]
) -> None:
    async with running(tmp_path, **HOUSES[tell]) as trial:
        liar = Liar(trial, monkeypatch)
        await tell(liar)
        report = await trial.audit(**liar.options)
    assert report.verdict is Verdict.CLEAN, (report.violations, report.reasons)
    assert report.believed[row] > 0


def test_there_are_enough_lies() -> None:
    assert len(LIES) >= 40
    assert {check for check, _ in (lie.values for lie in LIES)} == set(range(1, 10))
