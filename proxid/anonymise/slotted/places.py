"""Places as H3 cells (DESIGN 8.8): a path of cells from coarse to fine, coarsened where it must be.

Optional planar Laplace noise (Andrés et al. 2013, geo-indistinguishability) is drawn before grouping and reused for a
repeated place: n fresh reports would cost nε.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from proxid.errors import ConfigError, InputError

EARTH_RADIUS: Final = 6_371_008.8
"""Mean radius in metres (IUGG)."""
FINEST: Final = 8
"""The finest resolution where nobody chose one: cells of 0.7 km²."""
NIGHT_HOURS: Final = (22, 6)


def parse_location(text: str) -> tuple[float, float] | None:
    """Latitude and longitude of "lat,lon" in degrees; None for an empty text; raises InputError."""
    if not text:
        return None
    try:
        latitude, longitude = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError("location is not a latitude and a longitude") from None
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):
        raise InputError("location is outside the globe")
    return latitude, longitude


@dataclass(frozen=True, slots=True)
class PlaceRules:
    """How fine a place may be shown.

    Attributes:
        finest: H3 resolution at which records start to wait (0 … 15).
        sensitive: cell → resolution; inside such a cell (a clinic, a place of worship) nothing finer is used.
        night: resolution during `night_hours`, when a place is a home; None: the same as by day.
        night_hours: first and last hour (UTC) of the night, the last excluded.
        population: cell → people, at every resolution (`population_totals`); without one, no cell is left out.
        min_population: cells with fewer people are never used; their records start at the first ancestor with more.
    """

    finest: int = FINEST
    sensitive: Mapping[str, int] = field(default_factory=dict)
    night: int | None = None
    night_hours: tuple[int, int] = NIGHT_HOURS
    population: Mapping[str, int] | None = None
    min_population: int = 0

    def __post_init__(self) -> None:
        """Raises ConfigError for a value outside its range; the rule names the key."""
        import h3  # only who computes places needs it

        if not 0 <= self.finest <= 15:
            raise ConfigError("finest_resolution must be from 0 to 15")
        if self.night is not None and not 0 <= self.night <= self.finest:
            raise ConfigError("night resolution must not be finer than finest_resolution")
        if not all(h3.is_valid_cell(cell) for cell in self.sensitive):
            raise ConfigError("sensitive_places holds something that is no H3 cell")

    def resolution(self, cell: str, time: float) -> int:
        """The finest resolution that may be used for a cell (at `finest`) at a Unix time."""
        import h3  # only who computes places needs it

        allowed = self.finest
        if self.night is not None and _is_night(time, self.night_hours):
            allowed = min(allowed, self.night)
        for marked, resolution in self.sensitive.items():
            own = h3.get_resolution(marked)
            if own <= self.finest and h3.cell_to_parent(cell, own) == marked:
                allowed = min(allowed, resolution)
        return allowed

    def path(self, latitude: float, longitude: float, time: float) -> tuple[str, ...]:
        """Cells from resolution 0 to the finest allowed; empty if none is populated enough."""
        import h3  # only who computes places needs it

        cell = h3.latlng_to_cell(latitude, longitude, self.finest)
        finest = self.resolution(cell, time)
        path = [h3.cell_to_parent(cell, resolution) for resolution in range(finest + 1)]
        while path and not self._populated(path[-1]):
            path.pop()
        return tuple(path)

    def _populated(self, cell: str) -> bool:
        return self.population is None or self.population.get(cell, 0) >= self.min_population


def population_totals(grid: Mapping[str, int]) -> dict[str, int]:
    """People by cell, of the grid's own cells and of all their ancestors."""
    import h3  # only who computes places needs it

    totals: dict[str, int] = {}
    for cell, people in grid.items():
        for resolution in range(h3.get_resolution(cell) + 1):
            parent = h3.cell_to_parent(cell, resolution)
            totals[parent] = totals.get(parent, 0) + people
    return totals


def _is_night(time: float, hours: tuple[int, int]) -> bool:
    hour = int(time // 3600) % 24
    first, last = hours
    return first <= hour < last if first <= last else hour >= first or hour < last


def planar_laplace(
    latitude: float, longitude: float, epsilon: float, uniform: Callable[[], float]
) -> tuple[float, float]:
    """A point at planar Laplace distance of a place.

    Args:
        epsilon: privacy parameter a metre. uniform: draws from [0, 1).

    Returns:
        Latitude and longitude in degrees. The radius has the distribution C(r) = 1 − (1 + εr)e^{−εr}
        (Andrés et al. 2013, §4), inverted by bisection, its angle is uniform.
    """
    if epsilon <= 0:
        raise ConfigError("epsilon must be positive")
    angle, radius = 2 * math.pi * uniform(), _radius(uniform()) / epsilon
    north, east = radius * math.cos(angle), radius * math.sin(angle)
    moved = latitude + math.degrees(north / EARTH_RADIUS)
    moved = max(-90.0, min(90.0, moved))
    scale = max(math.cos(math.radians(latitude)), 1e-6)
    turned = longitude + math.degrees(east / (EARTH_RADIUS * scale))
    return moved, (turned + 180.0) % 360.0 - 180.0


def _radius(p: float) -> float:
    low, high = 0.0, 1.0
    while 1 - (1 + high) * math.exp(-high) < p and high < 1e3:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        if 1 - (1 + middle) * math.exp(-middle) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2
