"""The one place that knows Numba: a typed decorator for loops over columns (DESIGN 13).

Compiled code is cached beside the module, so that only the first run after an installation compiles. A loop works on
the arrays it is given and allocates none, which lets Numba leave out reference counts: counting them at every step
costs five times what the steps themselves do.
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


_njit: Any = numba.njit


def _options() -> dict[str, bool]:
    """Without reference counts where this Numba can (a flag of its own use, there since it has any)."""
    options = {"cache": True, "boundscheck": False, "_nrt": False}
    try:
        _njit(**options)
    except (KeyError, TypeError):
        del options["_nrt"]
    return options


_OPTIONS = _options()


def _compile(function: Callable[P, R], **more: str) -> Callable[P, R]:
    try:
        return cast("Callable[P, R]", _njit(**_OPTIONS, **more)(function))
    except RuntimeError:  # no folder to cache in: compile anew in every process
        return cast("Callable[P, R]", _njit(**_OPTIONS | {"cache": False}, **more)(function))


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop on first use; it checks no bounds, so its caller must have made the room."""
    return _compile(function)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Like `compiled`, for a small step of a hot loop: it becomes part of its caller."""
    return _compile(function, inline="always")
