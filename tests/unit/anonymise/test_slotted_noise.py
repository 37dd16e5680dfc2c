"""Reports under planar Laplace noise: one a place, paid for by the place, checked by the auditor (DESIGN 8.8)."""

import math
from dataclasses import replace
from pathlib import Path

import h3
import pytest

from auditor.checks.c5_places import Places
from auditor.trust import Trust
from proxid.anonymise.slotted.noise import PLACE_RESOLUTION, PlaceNoise
from proxid.anonymise.slotted.places import EARTH_RADIUS, PlaceRules
from proxid.anonymise.slotted.visible import command_path
from proxid.crypto.hpke import OpeningKey
from proxid.encoding import encode
from proxid.errors import ConfigError, GroupMismatchError
from proxid.evidence.events import BufferedPayload
from proxid.runtime.config import AnonymiserConfig
from proxid.runtime.config.population import load_population

SEED = bytes(range(32))
HERE = (41.39, 2.17)
NOISE = PlaceNoise(0.001, 0.002)
RULES = PlaceRules(finest=7)


def metres(a: tuple[float, float], b: tuple[float, float]) -> float:
    north, east = math.radians(a[0] - b[0]), math.radians(a[1] - b[1]) * math.cos(math.radians(a[0]))
    return EARTH_RADIUS * math.hypot(north, east)


def test_same_place_gives_the_same_report_and_another_person_or_epoch_another() -> None:
    report = NOISE.report(SEED, "px1ann", *HERE)
    nearby = h3.cell_to_latlng(h3.latlng_to_cell(*HERE, PLACE_RESOLUTION))
    assert NOISE.report(SEED, "px1ann", *nearby) == report
    others = [
        NOISE.report(SEED, "px1bob", *HERE),
        NOISE.report(SEED[::-1], "px1ann", *HERE),
        NOISE.report(SEED, "px1ann", HERE[0] + 0.01, HERE[1]),
    ]
    assert len({(r.latitude, r.longitude) for r in (report, *others)}) == 4
    assert len({r.name for r in (report, *others)}) == 4


def test_reports_have_the_planar_laplace_radius() -> None:
    # Mean 2/ε, variance 2/ε²; the mean of n draws lies within 5 standard errors.
    n, centre = 4000, h3.cell_to_latlng(h3.latlng_to_cell(0.0, 0.0, PLACE_RESOLUTION))
    reports = [NOISE.report(SEED, f"px1{i}", 0.0, 0.0) for i in range(n)]
    mean = sum(metres((r.latitude, r.longitude), centre) for r in reports) / n
    assert abs(mean - 2 / NOISE.epsilon) < 5 * math.sqrt(2 / n) / NOISE.epsilon
    east = sum(r.longitude > centre[1] for r in reports)
    assert abs(east - n / 2) < 5 * math.sqrt(n) / 2


@pytest.mark.parametrize(("epsilon", "budget", "places"), [(0.1, 0.3, 3), (0.01, 0.05, 5), (0.02, 0.039, 1)])
def test_each_place_costs_epsilon(epsilon: float, budget: float, places: int) -> None:
    assert PlaceNoise(epsilon, budget).places == places


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"place_epsilon": 0.01}, "place_budget"),
        ({"place_budget": 0.01}, "place_epsilon"),
        ({"place_epsilon": 0.02, "place_budget": 0.01}, "place_budget"),
        ({"place_epsilon": 0.0, "place_budget": 0.01}, "place_epsilon"),
        ({"min_population": 5}, "population"),
        ({"population": "grid.csv"}, "min_population"),
    ],
)
def test_bad_parameters_are_refused(keys: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        AnonymiserConfig.model_validate(keys)


def test_population_is_read_and_cells_with_few_people_are_left_out(tmp_path: Path) -> None:
    fine, near = h3.latlng_to_cell(*HERE, 7), h3.latlng_to_cell(HERE[0] + 0.1, HERE[1], 7)
    path = tmp_path / "grid.csv"
    path.write_text(f"h3,people\n{fine},5\n{near},500.4\n")
    rules = AnonymiserConfig(finest_resolution=8, population=path, min_population=100).place_rules()
    cells = rules.path(*HERE, 0.0)
    assert 0 < len(cells) < 8
    assert rules.population is not None
    assert rules.population[cells[-1]] == 505


@pytest.mark.parametrize(
    "text", ["", "h3,people\n", "h3\nnonsense,5\n", "{cell},5\n{parent},7\n", "{cell},5\nplanted,x\n"]
)
def test_damaged_population_is_named(tmp_path: Path, text: str) -> None:
    cell = h3.latlng_to_cell(*HERE, 7)
    path = tmp_path / "grid.csv"
    path.write_text(text.format(cell=cell, parent=h3.cell_to_parent(cell)))
    with pytest.raises(ConfigError, match=r"population: grid\.csv") as caught:
        load_population(path)
    assert "planted" not in caught.value.rule


def trust(noise: PlaceNoise | None) -> Trust:
    keys = {"authority": b"", "screener": b"", "service_key": b"", "opening": OpeningKey(bytes(range(96)))}
    return Trust("ms", bundles={}, party_keys={}, settings=None, slots={}, places=RULES, noise=noise, **keys)  # type: ignore[arg-type]


def buffered(point: tuple[float, float] | None, path: tuple[str, ...], kind: str = "location") -> BufferedPayload:
    location = "" if point is None else f"{point[0]},{point[1]}"
    return BufferedPayload(
        session=bytes(64), prox_id="px1ann", seasoned=True, audience="a", kind=kind,
        opening=encode("where am i", "en", 0, location, bytes(32)), pipeline="p", path=path, texts=("", ""),
        time_ms=0,
    )  # fmt: skip


def test_auditor_holds_places_to_the_seed_and_the_budget() -> None:
    report = NOISE.report(SEED, "px1ann", *HERE)
    noisy = RULES.path(report.latitude, report.longitude, 0)
    true = RULES.path(*HERE, 0)
    assert noisy != true
    places, reported = Places(trust(NOISE)), {}  # type: ignore[var-annotated]
    for path, kind in ((noisy, "location"), (command_path(("lamp",), noisy[3]), "command")):
        places.verify(buffered(HERE, path, kind), SEED, reported)
    places.verify(buffered(None, command_path(("lamp",), ""), "command"), SEED, reported)
    for payload in (
        buffered(HERE, true),
        buffered(HERE, ()),
        buffered(HERE, noisy[:3]),
        buffered(HERE, command_path(("lamp",), noisy[4]), "command"),
        buffered(None, noisy),
    ):
        with pytest.raises(GroupMismatchError, match="another place"):
            places.verify(payload, SEED, reported)
    for north, fine in ((0.1, True), (0.2, False)):
        there = (HERE[0] + north, HERE[1])
        report = NOISE.report(SEED, "px1ann", *there)
        payload = buffered(there, RULES.path(report.latitude, report.longitude, 0))
        if fine:
            places.verify(payload, SEED, reported)
        else:
            with pytest.raises(GroupMismatchError, match="budget"):
                places.verify(payload, SEED, reported)


def test_auditor_holds_places_to_the_point_without_noise() -> None:
    places = Places(replace(trust(None)))
    places.verify(buffered(HERE, RULES.path(*HERE, 0)), SEED, {})
    with pytest.raises(GroupMismatchError):
        places.verify(buffered(HERE, RULES.path(HERE[0] + 1, HERE[1], 0)), SEED, {})
