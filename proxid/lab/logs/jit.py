"""The one place that knows Numba: a typed decorator for loops over columns (DESIGN 13).

Compiled code is cached beside the module, so that only the first run after an installation compiles, and of processes
that run side by side only one: the others wait for what it writes. A loop works on
the arrays it is given and allocates none, which lets Numba leave out reference counts: counting them at every step
costs five times what the steps themselves do.
"""

import fcntl
import hashlib
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numba.core.caching
import numpy as np
import numpy.typing as npt
from numba.core.compiler_lock import global_compiler_lock

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
_stamps: dict[Any, bytes] = {}


def _options() -> dict[str, bool]:
    """Without reference counts where this Numba can (a flag of its own use, there since it has any)."""
    options = {"boundscheck": False, "_nrt": False}
    try:
        _njit(**options)
    except (KeyError, TypeError):
        del options["_nrt"]
    return options


_OPTIONS = _options()


def _file_stamp(function: Any) -> str:
    status = Path(function.__code__.co_filename).stat()
    return f"{status.st_mtime_ns}:{status.st_size}"


def _stamp(function: Any) -> bytes:
    """What the compiled code depends on: the function's file, and the loops and constants that the file uses.

    Numba's own stamp is the function's file alone: it would go on using a loop of another file that has changed.
    """
    parts = [_file_stamp(function)]
    for name, value in sorted(function.__globals__.items()):
        if isinstance(value, Hashable) and value in _stamps:
            parts.append(f"{name}={_stamps[value].hex()}")
        elif isinstance(value, bool | int | float | np.generic):
            parts.append(f"{name}={value!r}")
        elif hasattr(value, "_defn"):
            parts.append(f"{name}={_file_stamp(value._defn)}")
    return hashlib.sha256("\n".join(parts).encode()).digest()


def _keep_on_disk(loop: Any, function: Any) -> None:
    """Cache compiled code under `_stamp`; where Numba cannot, every process compiles anew."""
    try:
        stamp = _stamp(function)
        loop.enable_caching()
        if not hasattr(loop._cache._cache_file, "_source_stamp"):
            raise AttributeError
        loop._cache._cache_file._source_stamp = stamp
        _stamps[loop] = stamp
        _compile_in_turns(loop, function)
    except (AttributeError, OSError, RuntimeError):
        loop._cache = numba.core.caching.NullCache()


def _compile_in_turns(loop: Any, function: Any) -> None:
    """Let one process at a time look for compiled code and make it if there is none.

    Loops call one another in one direction, so that processes do not wait for each other in a circle.
    """
    compile_, here = loop.compile, Path(loop._cache.cache_path) / f"{function.__module__}.{function.__qualname__}.lock"

    def compile_once(signature: Any) -> Any:
        with global_compiler_lock, _alone(here):  # this one first: it is the one that Numba's own threads wait for
            return compile_(signature)

    loop.compile = compile_once


_held: set[Path] = set()
"""Locks of this process, which has them under Numba's own."""


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    if path in _held:
        yield
        return
    with ExitStack() as stack:
        with suppress(OSError):  # a full or foreign disk, on which nothing is cached either
            fcntl.flock(stack.enter_context(path.open("a")), fcntl.LOCK_EX)
        _held.add(path)
        stack.callback(_held.discard, path)
        yield


_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _compile(function: Callable[P, R], **more: Any) -> Callable[P, R]:
    loop = _njit(**_OPTIONS, **more)(function)
    _keep_on_disk(loop, function)
    return cast("Callable[P, R]", loop)


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop on first use; it checks no bounds, so its caller must have made the room."""
    return _compile(function)


def step(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a part of a loop: it can be called from compiled code alone, and is compiled in half the time."""
    return _compile(function, **_INNER)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Like `step`, for a small part of a hot loop: it becomes part of its caller."""
    return _compile(function, inline="always", **_INNER)
