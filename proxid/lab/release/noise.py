"""Noise from OpenDP's samplers, on a grid of 1/1024 (DESIGN 13: never floating-point Laplace).

OpenDP draws exact discrete distributions from the system's secure generator and takes no seed. Counts are whole, so
noise is drawn in steps of GRID = 1/1024 of a count: with thresholds on the grid, Pr[noise > t] of the discrete
Laplace is p^(j+1)/(1+p) <= p^j/2 (p = e^(-step/scale), t = j steps), never above the continuous tail of the proofs,
and one count's shift changes a probability by at most e^(1/scale), exactly as in the continuous case.
"""

import math
from functools import lru_cache
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp

from proxid.errors import ConfigError

GRID_BITS: Final = 10
STEPS: Final = 1 << GRID_BITS
"""Grid steps in one count."""

_CHUNK: Final = 1 << 16
SMALLEST_SCALE: Final = 2.0**-20
LARGEST_SCALE: Final = 2.0**40
"""In counts, not steps: outside nothing is hidden, or the noise and the thresholds fit no 64 bits."""
_MOST_STEPS: Final = LARGEST_SCALE * STEPS

Steps = npt.NDArray[np.int64]

dp.enable_features("contrib")


class Noise(Protocol):
    """A source of noise; scales and results are in grid steps."""

    def laplace(self, size: int, scale: float) -> Steps:
        """`size` independent discrete Laplace draws, Pr[x] proportional to e^(-|x|/scale)."""

    def gaussian(self, size: int, scale: float) -> Steps:
        """`size` independent discrete Gaussian draws, Pr[x] proportional to e^(-x^2/(2 scale^2))."""


class OpenDpNoise:
    """OpenDP's exact samplers over the system's secure generator: there is no seed to give."""

    def laplace(self, size: int, scale: float) -> Steps:
        """See Noise. Raises ConfigError when the scale is not usable."""
        return _draw("laplace", size, scale)

    def gaussian(self, size: int, scale: float) -> Steps:
        """See Noise. Raises ConfigError when the scale is not usable."""
        return _draw("gaussian", size, scale)


@lru_cache(maxsize=64)
def measurement(kind: str, scale: float) -> Any:
    """OpenDP's measurement that adds noise to a vector of whole numbers; its `map` states the privacy loss."""
    if not 0 < scale <= _MOST_STEPS:
        raise ConfigError("the noise scale is a positive number that OpenDP can draw")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if kind == "laplace":
        return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale)
    return dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), scale)


def _draw(kind: str, size: int, scale: float) -> Steps:
    mechanism, out = measurement(kind, scale), np.empty(size, np.int64)
    for start in range(0, size, _CHUNK):
        stop = min(size, start + _CHUNK)
        out[start:stop] = mechanism([0] * (stop - start))
    return out


def geometric(size: int, scale: float, noise: Noise) -> Steps:
    """Draws of j >= 0 with probability proportional to e^(-j/scale): Laplace draws that are not negative."""
    parts, have = [np.empty(0, np.int64)], 0
    while have < size:
        drawn = noise.laplace(2 * (size - have) + 8, scale)
        parts.append(drawn[drawn >= 0])
        have += len(parts[-1])
    return np.concatenate(parts)[:size]


def laplace_tail(steps: int, scale: float) -> float:
    """Pr[x > steps] for the discrete Laplace, steps >= 0."""
    return math.exp(-(steps + 1) / scale) / (1 + math.exp(-1 / scale))


def to_grid_up(value: float) -> int:
    """The smallest number of grid steps that is at least `value` counts."""
    return math.ceil(value * STEPS)


def from_grid(steps: Steps) -> npt.NDArray[np.float64]:
    """Grid steps as counts."""
    return steps / STEPS
