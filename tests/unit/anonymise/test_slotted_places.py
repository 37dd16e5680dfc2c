"""Places (DESIGN 8.8): paths of cells, what coarsens them, and planar Laplace noise."""

import itertools
import math
import random

import h3
import pytest

from proxid.anonymise.slotted.places import (
    EARTH_RADIUS,
    PlaceRules,
    parse_location,
    planar_laplace,
    population_totals,
)
from proxid.anonymise.slotted.pool import SlotPool
from proxid.anonymise.slotted.types import SlotRecord, SlotSettings
from proxid.anonymise.split.draws import Draws
from proxid.errors import InputError

HERE = (41.39, 2.17)
NOON, NIGHT = 12 * 3600.0, 23 * 3600.0


def test_a_path_goes_from_coarse_to_fine() -> None:
    path = PlaceRules(finest=8).path(*HERE, NOON)
    assert [h3.get_resolution(cell) for cell in path] == list(range(9))
    assert all(h3.cell_to_parent(fine, i) == coarse for i, (coarse, fine) in enumerate(itertools.pairwise(path)))


def test_nights_and_sensitive_places_are_coarser() -> None:
    cell = h3.latlng_to_cell(*HERE, 6)
    rules = PlaceRules(finest=8, sensitive={cell: 4}, night=2)
    assert len(rules.path(*HERE, NOON)) == 5
    assert len(rules.path(*HERE, NIGHT)) == 3


def test_cells_with_too_few_people_are_left_out() -> None:
    fine = h3.latlng_to_cell(*HERE, 8)
    totals = population_totals({fine: 5, h3.latlng_to_cell(HERE[0] + 0.05, HERE[1], 8): 500})
    path = PlaceRules(finest=8, population=totals, min_population=100).path(*HERE, NOON)
    assert 0 < len(path) < 9
    assert totals[path[-1]] >= 100


def test_the_union_of_those_left_over_may_be_shown_like_each_of_its_cells() -> None:
    """Ripe siblings leave and tell that the others were elsewhere: in cells populated enough, in no sensitive one."""
    parent = h3.latlng_to_cell(*HERE, 7)
    cells = sorted(h3.cell_to_children(parent, 8))
    few, clinic = cells[0], cells[1]
    totals = population_totals({cell: 5 if cell == few else 200 for cell in cells})
    rules = PlaceRules(finest=8, sensitive={clinic: 5}, population=totals, min_population=100)
    pool = SlotPool(SlotSettings(k=2, margin=1), 86_400.0, Draws(bytes(32)).place)
    asked = [*cells[2:4] * 4, *cells[4:], *[few, clinic] * 3]
    for i, cell in enumerate(asked):
        path = rules.path(*h3.cell_to_latlng(cell), NOON)
        pool.submit(SlotRecord(bytes([i]), f"p{i}", True, "location|p", path, "", 43_200.0))
    done = pool.close(44_100.0)
    left, over = {group.node[-1] for group in done.groups}, {source[-1] for _, source in done.lifted}
    assert left == set(cells[2:4])
    assert over == set(cells[4:]), "who was in the others, or in few or clinic, waits elsewhere and is not among these"
    assert all(totals[cell] >= rules.min_population for cell in left | over)
    coarse = {w.node[-1] for w in pool.waiting if w.record.path[-1] not in cells}
    assert coarse == {parent, h3.cell_to_parent(parent, 5)}


@pytest.mark.parametrize("text", ["here", "1,2,3", "91,0", "0,181", ",", "nan,0"])
def test_what_is_no_location_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_location(text)


def test_the_noise_has_the_planar_laplace_radius() -> None:
    # The radius is Gamma(2, 1/ε): mean 2/ε, variance 2/ε². The mean of n draws lies within 5 standard errors.
    epsilon, n, source = 0.01, 4000, random.Random(1)
    radii = []
    for _ in range(n):
        latitude, longitude = planar_laplace(0.0, 0.0, epsilon, source.random)
        radii.append(EARTH_RADIUS * math.hypot(math.radians(latitude), math.radians(longitude)))
    assert abs(sum(radii) / n - 2 / epsilon) < 5 * math.sqrt(2 / n) / epsilon
