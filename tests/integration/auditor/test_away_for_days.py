"""A main service that is away for days, and comes back to what waited (DESIGN 4.3, 10.2, 12)."""

from pathlib import Path

import pytest

from main_service.jobs.classification import Classification
from tests.support.aging import age
from tests.support.days import DAY
from tests.support.lies_epochs import patiently
from tests.support.split_house import clean, entries, house, served
from tests.support.trial import PEOPLE, running


@pytest.mark.parametrize(
    "days", [4, pytest.param(40, marks=pytest.mark.slow), pytest.param(300, marks=pytest.mark.slow)]
)
async def test_a_main_service_that_is_back_after_days_says_whose_all_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    """It was killed while something waited to be taken up, and something for others."""

    async def nothing(self: Classification) -> int:
        return 0

    async with running(tmp_path) as trial:
        await trial.consent()
        await trial.ask("node1 question")
        await trial.ask("node2 question", PEOPLE[:2])
        await trial.settle()
        with monkeypatch.context() as patch:
            patch.setattr(Classification, "batch", nothing)
            await trial.ask("node3 question", PEOPLE[:3])
            await trial.halt("main-service")
        await age(trial, days * DAY)
        await trial.serve("main-service")
        await served(trial)
        await patiently(trial.consent)
        await trial.ask("node4 question")
        await trial.settle()
        await trial.receive()
        clean(await trial.audit())


@pytest.mark.slow
async def test_in_form_split_it_closes_its_epoch(tmp_path: Path) -> None:
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.halt("main-service")
        await age(trial, 4 * DAY)
        await trial.serve("main-service")
        await served(trial)
        await patiently(trial.consent)
        trial.leap(3600.0)  # the epochs between were never open
        await patiently(trial.consent)
        await trial.over()
        got = await trial.receive()
        clean(await trial.audit())
    assert entries(got["acme"])
