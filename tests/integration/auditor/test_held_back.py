"""What time should have let go is held back for hours, while requests come: nobody can tell why, and it is not clean.

Who is with whom is the main service's to choose then. In form `pairs` it is a lie among the others (`lies_unsaid`).
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import GROUPS, Verdict
from main_service.jobs.timekeeping import Timekeeper
from main_service.store.library import PREFIX
from proxid.runtime.evidence_log.stream import counted
from proxid.runtime.store import connect
from tests.support.commands import CommandTrial
from tests.support.lies import Liar
from tests.support.lies_unsaid import HOUR, early, later
from tests.support.trial import PEOPLE, Trial, running

SPLIT = {"form": "split", "level": 2, "min_text_users": 2, "bucket": "6 h"}
SLOTS = {"k": 2, "time_slots": ["15 min", "1 h", "6 h"]}
FORMS = [("news of today", Trial, SPLIT), ("do it", CommandTrial, SLOTS)]


@pytest.mark.parametrize("comes", [False, True])
@pytest.mark.parametrize(("text", "kind", "made"), FORMS, ids=["split", "slots"])
async def test_what_is_held_back_for_hours_is_not_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, kind: type[Trial], made: dict[str, Any], comes: bool
) -> None:
    """Whether or not it comes in the end."""

    async def nothing(self: Timekeeper) -> None:
        """As if no time passed."""

    async with running(tmp_path, kind, anonymiser=made) as trial:
        liar = Liar(trial, monkeypatch)
        await early(liar)
        with monkeypatch.context() as still:
            still.setattr(Timekeeper, "tick", nothing)
            await later(liar, 0.0, text, PEOPLE[0])
            await later(liar, 7 * HOUR, text, PEOPLE[1])
            await later(liar, 1.1 * HOUR, text, PEOPLE[2])
            before = await last(trial)
        if comes:
            await came(trial, before)
        report = await trial.audit()
    assert (report.verdict, {reason.rule for reason in report.reasons}) == (Verdict.UNCHECKED, {GROUPS})


async def last(trial: Trial) -> int:
    """Number of the main service's newest event."""
    main = connect(trial.url("main-service"))
    try:
        return (await counted(main, PREFIX)).last
    finally:
        await main.aclose()


async def came(trial: Trial, before: int) -> None:
    """What was due is done."""
    async with asyncio.timeout(30):
        while await last(trial) == before:  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.1)
