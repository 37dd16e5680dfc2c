"""Reports of places under planar Laplace noise (DESIGN 8.8; Andrés et al. 2013, geo-indistinguishability).

A place is a cell of H3 at resolution 10, about 130 m across, taken at its centre: whoever asks again from there says
nothing new. Its report is a pure function of (epoch seed, person, place), so the same place gives the same report
however often it is asked from, nothing about reports has to be stored, and the auditor, who is given the seed,
draws it again.

    words = SHAKE-256(E("proxid/v1/place-noise", seed, person, cell)): 16 bytes name the place in the ledger, two
    big-endian u64 without their last 11 bits, over 2⁵³, give the angle and the radius

For two places d metres apart the probabilities of any one report differ by at most the factor e^{εd}; n different
places cost nε. A person may spend `budget` in an epoch. Only a cell is ever shown of a report, never its coordinates,
so the low bits of floating-point numbers, which can give noise away, are not published.
"""

import hashlib
import math
import struct
from dataclasses import dataclass

from proxid.anonymise.slotted.places import planar_laplace
from proxid.encoding import encode, label
from proxid.errors import ConfigError

NOISE_LABEL = label("place-noise")
PLACE_RESOLUTION = 10
NAME_SIZE = 16

_WORDS = struct.Struct(">QQ")


@dataclass(frozen=True, slots=True)
class Report:
    """A place as it is reported, in degrees; `name` tells it from the person's other places, and nothing else."""

    name: bytes
    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True)
class PlaceNoise:
    """How places are reported.

    Attributes:
        epsilon: privacy parameter a metre. budget: what one person may spend in an epoch, a metre.
    """

    epsilon: float
    budget: float

    def __post_init__(self) -> None:
        """Raises ConfigError for a value outside its range; the rule names the key."""
        if not 0 < self.epsilon < math.inf:
            raise ConfigError("place_epsilon must be positive")
        if not self.epsilon <= self.budget < math.inf:
            raise ConfigError("place_budget must be at least place_epsilon")

    @property
    def places(self) -> int:
        """Different places that a person may report in an epoch."""
        return math.floor(self.budget / self.epsilon * (1 + 1e-12))

    def report(self, seed: bytes, person: str, latitude: float, longitude: float) -> Report:
        """What is reported of a place, in degrees; `seed` is the epoch's."""
        import h3  # only who computes places needs it

        cell = h3.latlng_to_cell(latitude, longitude, PLACE_RESOLUTION)
        drawn = hashlib.shake_256(encode(NOISE_LABEL, seed, person, cell)).digest(NAME_SIZE + _WORDS.size)
        numbers = iter([(word >> 11) / 2**53 for word in _WORDS.unpack(drawn[NAME_SIZE:])])
        centre = h3.cell_to_latlng(cell)
        shown = planar_laplace(centre[0], centre[1], self.epsilon, lambda: next(numbers))
        return Report(drawn[:NAME_SIZE], *shown)
