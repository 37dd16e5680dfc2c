"""How the C library of a service keeps memory: a heap for each of gRPC's threads would stay as large as it ever was."""

import ctypes
from contextlib import suppress
from typing import Final

_M_ARENA_MAX: Final = -8
"""glibc, malloc.h: the most heaps that threads are spread over."""
_ARENAS: Final = 2


def share_heaps() -> None:
    """Have the threads of this process share two heaps; nothing where the C library has no such setting.

    A message is put together by gRPC before anybody can refuse it: callers who send large ones at once fill a heap for
    each thread (`tests/e2e/test_large_messages.py`).
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)
