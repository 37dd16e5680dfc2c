"""The one place that knows Numba: a typed decorator for loops over columns (DESIGN 13).

Compiled code is cached beside the module, so that only the first run after an installation compiles.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

P = ParamSpec("P")
R = TypeVar("R")

Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Scalar = Any
"""A number inside a compiled loop, whose width Numba infers."""
Columns = Any
"""A tuple of arrays handed to a compiled loop; the loop's docstring lists them."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop on first use; it releases nothing and checks no bounds, so its caller must."""
    return cast("Callable[P, R]", numba.njit(cache=True, boundscheck=False)(function))
