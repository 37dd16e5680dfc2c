"""Connections to a household's doors at once: whoever opens many and says nothing must not keep the others out.

Neither HTTP's server nor Wyoming's bounds them, and with no descriptor left the agent reaches no gateway either.
"""

from collections.abc import Callable
from typing import Any, Final

MOST: Final = 128
"""Of all doors together; a process may have 1,024 files open where nobody said otherwise."""


class Visitors:
    """Who is connected. Somebody who is answered stays; of the others the one who came first makes room."""

    def __init__(self) -> None:
        self._here: dict[Any, Callable[[], bool]] = {}

    def came(self, transport: Any, is_answered: Callable[[], bool]) -> None:
        """Somebody connected.

        Args:
            transport: asyncio's. is_answered: whether they have asked something and not heard an answer yet.
        """
        if len(self._here) >= MOST:
            idle = (one for one, busy in self._here.items() if not busy())
            goes = next(idle, next(iter(self._here)))
            del self._here[goes]
            goes.abort()
        self._here[transport] = is_answered

    def went(self, transport: Any) -> None:
        """The connection is over."""
        self._here.pop(transport, None)
