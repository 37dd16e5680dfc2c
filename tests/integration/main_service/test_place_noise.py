"""Places under noise and above a population, from the device to the party and the auditor (DESIGN 8.8)."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

import h3
import pytest

from auditor.findings import GROUPS, Verdict
from proxid.anonymise.slotted.noise import PlaceNoise
from proxid.classify import Classification, RequestType
from proxid.runtime.store import connect
from tests.support.trial import PEOPLE, FixedClassifier, Trial, running

HERE = h3.cell_to_latlng(h3.latlng_to_cell(41.39, 2.17, 2))
"""The middle of a cell 300 km across, so that noise of 10 km does not leave it."""
THERE, ELSEWHERE = (HERE[0] + 0.1, HERE[1]), (HERE[0], HERE[1] + 0.2)
EPSILON, BUDGET = 0.0002, 0.0004
"""A metre: a report is 10 km away on average, and there is a budget for two places."""


class Places(FixedClassifier):
    """Everything is a location query."""

    version = "places-1"

    def classify(self, text: str) -> Classification:
        return Classification(
            type=RequestType.LOCATION, confidence=1.0, path=(), masked=text, normalised=text, units=(), intent="find"
        )


class PlaceTrial(Trial):
    classifier = Places()

    async def ask_from(self, point: tuple[float, float], people: tuple[str, ...] = PEOPLE) -> None:
        where = f"{point[0]},{point[1]}"
        await asyncio.gather(*(self.device.ask(user, "where is it", where) for user in people))


@pytest.fixture
async def trial(tmp_path: Path) -> AsyncIterator[PlaceTrial]:
    cells = {h3.latlng_to_cell(*point, 5) for point in (HERE, THERE)}
    grid = tmp_path / "grid.csv"
    disk = {cell for centre in cells for cell in h3.grid_disk(centre, 20)}
    grid.write_text("".join(f"{cell},1000\n" for cell in sorted(disk)))
    anonymiser = {
        "k": 2, "time_slots": ["1 s", "2 s", "1 d"], "finest_resolution": 2, "place_epsilon": EPSILON,
        "place_budget": BUDGET, "population": str(grid), "min_population": 1000,
    }  # fmt: skip
    async with running(tmp_path / "trial", PlaceTrial, anonymiser=anonymiser) as found:
        yield found  # type: ignore[misc]


async def test_groups_form_at_reported_places_within_the_budget(trial: PlaceTrial) -> None:
    await trial.consent()
    for point in (HERE, THERE, HERE, ELSEWHERE):
        await trial.ask_from(point)
        await trial.settle()
        await asyncio.sleep(1.1)  # the next slot: one record a person and slot
    withheld = connect(trial.url("main-service"))
    try:
        reasons = await withheld.hgetall("{ms}:withheld")
        assert int(reasons[b"location|place_budget"]) == len(PEOPLE)
        ledgers = [key async for key in withheld.scan_iter(match="{ms}:places:*")]
        assert len(ledgers) == len(PEOPLE)
        assert {await withheld.scard(key) for key in ledgers} == {2}
        assert all([await withheld.ttl(key) > 0 for key in ledgers])
    finally:
        await withheld.aclose()
    got: list[object] = []
    async with asyncio.timeout(30):
        while not got:
            got += (await trial.receive("acme"))["acme"]
            await asyncio.sleep(0.2)
    report = await trial.audit()
    assert (report.violations, report.verdict) == ([], Verdict.CLEAN)
    assert report.counts["withheld.place_budget"] == len(PEOPLE) and "places" not in report.believed


async def test_auditor_notices_noise_that_is_not_the_seeds(trial: PlaceTrial, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = PlaceNoise.report

    def none_at_all(self: PlaceNoise, seed: bytes, person: str, latitude: float, longitude: float) -> object:
        far = (latitude + 20, longitude + 20)
        return dataclasses.replace(honest(self, seed, person, *far), latitude=far[0], longitude=far[1])

    monkeypatch.setattr(PlaceNoise, "report", none_at_all)
    monkeypatch.setattr("proxid.anonymise.slotted.places.PlaceRules._populated", lambda *_: True)
    await trial.consent()
    await trial.ask_from(HERE)
    await trial.settle()
    monkeypatch.setattr(PlaceNoise, "report", honest)
    report = await trial.audit()
    assert {v.rule for v in report.violations} == {GROUPS}
    assert any("another place" in v.text for v in report.violations)


@pytest.mark.slow
async def test_who_asks_twice_where_one_is_taken_has_nobody_accused(tmp_path: Path) -> None:
    """Policies of before there were rounds: the event of the second one holds it, and says no epoch."""
    slots = {"k": 2, "time_slots": ["1 h", "2 h", "1 d"], "finest_resolution": 2, "slot_rounds": False}
    async with running(tmp_path, PlaceTrial, anonymiser=slots) as trial:
        await trial.consent()
        for _ in range(2):
            await trial.ask_from(HERE, PEOPLE[:2])  # type: ignore[attr-defined]
            await trial.settle()
        report = await trial.audit()
    assert (report.violations, report.verdict) == ([], Verdict.CLEAN)
    assert report.counts["withheld.slot_quota"] == 2
