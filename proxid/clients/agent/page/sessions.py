"""Who is on the page: sessions in memory, gone when the agent ends, or a quarter of an hour after their last visit."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

IDLE: Final = 900.0
"""Seconds."""
_BYTES: Final = 32
_MOST: Final = 64
"""Sessions at once: the oldest goes."""


@dataclass(slots=True, repr=False)
class Session:
    """One person's visit.

    Attributes:
        ends: by the clock of `Sessions`. said: what came of the last form, shown once.
        held: when access was asked for (Unix seconds), for how many seconds a delivery is remembered, and the answer.
        standing: the answer to status.
    """

    user: str
    language: str
    ends: float
    said: list[str] = field(default_factory=list)
    held: tuple[float, float, dict[str, Any]] | None = None
    standing: dict[str, Any] | None = None


class Sessions:
    """See the module. clock: seconds that only go forward."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: dict[str, Session] = {}

    def begin(self, user: str, language: str) -> str:
        """A new session; what its cookie says."""
        self._forget()
        if len(self._open) >= _MOST:
            del self._open[next(iter(self._open))]
        cookie = secrets.token_urlsafe(_BYTES)
        self._open[_digest(cookie)] = Session(user, language, self._clock() + IDLE)
        return cookie

    def of(self, cookie: str) -> Session | None:
        """The session of a cookie, which goes on from here; None for one that is nobody's, or over."""
        self._forget()
        session = self._open.get(_digest(cookie))
        if session is not None:
            session.ends = self._clock() + IDLE
        return session

    def end(self, cookie: str) -> None:
        """The person leaves."""
        self._open.pop(_digest(cookie), None)

    def _forget(self) -> None:
        now = self._clock()
        for key in [key for key, session in self._open.items() if session.ends <= now]:
            del self._open[key]


def _digest(cookie: str) -> str:
    # Found by its digest: how long that takes says nothing of the cookie.
    return hashlib.sha256(cookie.encode()).hexdigest()
