"""Whom the gateway turns away: counted by person or party, rule and minute, one event each (DESIGN 17.9).

An event a refusal would let anybody with a certificate fill the log. Each worker counts for itself, in memory: a crash
loses the counts of its minute, which only say what this service did not take. What was forwarded is not counted, since
it has events of its own.
"""

import asyncio
import hashlib
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

import structlog

from proxid.errors import Code, RateLimitError, StoreError

_log = structlog.get_logger(__name__)
_MOST: Final = 4096
"""Sessions of one event: 256 kB of memory."""
_POLL: Final = 1.0
OF_PARTY: Final = 1000
"""How many times as much as a person a party may write: it acknowledges whatever many people let it have."""


REQUESTS: Final = "requests"


class Refused(NamedTuple):
    """What one event says: the rule's code, how many sessions, SHA-256 of their ids, sorted, one after the other.

    Attributes:
        kind: what was refused. minute: when, in Unix minutes. prox_id: of a person's requests, whose they were.
    """

    rule: str
    number: int
    sessions: str
    kind: str = REQUESTS
    minute: int = 0
    prox_id: str = ""


class _Key(NamedTuple):
    minute: int
    who: str
    rule: Code
    kind: str
    prox_id: str


class TurnedAway:
    """Refusals, and what people and parties write by the minute. Times are Unix seconds.

    Args:
        most: times that one person may write one kind of thing in a minute.
    """

    def __init__(self, most: int = 60) -> None:
        self.most = most
        self._open: dict[_Key, set[bytes]] = {}
        self._full: list[Refused] = []
        self._written: dict[tuple[str, str], int] = {}
        self._minute = -1

    def count(
        self, who: str, rule: Code, session: bytes, now: float, kind: str = REQUESTS, prox_id: str = ""
    ) -> None:  # fmt: skip
        """Somebody's message was refused; the same again in the same minute counts once.

        Args:
            prox_id: of who asked, so that the log can say whose requests were too many.
        """
        key = _Key(_minute(now), who, rule, kind, prox_id)
        sessions = self._open.setdefault(key, set())
        sessions.add(session)
        if len(sessions) >= _MOST:
            self._full.append(_refused(key, self._open.pop(key)))

    def write(self, kind: str, who: str, session: bytes, now: float, times: int = 1) -> None:
        """Somebody writes something once more.

        Args:
            session: what a refusal is known by. times: the usual limit, that many times.

        Raises:
            RateLimitError: too often in this minute, and it is counted.
        """
        if self._minute != _minute(now):
            self._minute, self._written = _minute(now), {}
        done = self._written[kind, who] = self._written.get((kind, who), 0) + 1
        if done > times * self.most:
            self.count(who, Code.RATE_LIMITED, session, now, kind)
            raise RateLimitError(f"more {kind} in a minute than are taken")

    def is_over(self, who: str, now: float, prox_id: str = "") -> bool:
        """Whether somebody's requests were over the limit in this minute before."""
        return _Key(_minute(now), who, Code.RATE_LIMITED, REQUESTS, prox_id) in self._open

    def due(self, now: float) -> Iterator[Refused]:
        """What can be written, each once: of other minutes than this one. At the end: `now` is infinite."""
        full, self._full = self._full, []
        yield from full
        for key in [key for key in self._open if key.minute != _minute(now)]:
            yield _refused(key, self._open.pop(key))


def _minute(now: float) -> int:
    return -2 if now == float("inf") else int(now // 60)


def _refused(key: _Key, sessions: set[bytes]) -> Refused:
    digest = hashlib.sha256(b"".join(sorted(sessions))).hexdigest()
    return Refused(key.rule.value, len(sessions), digest, key.kind, key.minute, key.prox_id)


class _Clocked(Protocol):
    """What is needed of a Screener."""

    @property
    def turned_away(self) -> TurnedAway: ...

    def clock(self) -> float: ...


class _Store(Protocol):
    """What is needed of the store."""

    async def refused(self, refused: Refused, limit: int) -> None: ...


async def write_refusals(screener: _Clocked, store: _Store) -> None:
    """A worker's job: write what is due, until cancelled, and then all."""
    try:
        while True:
            await asyncio.sleep(_POLL)
            await _write(screener.turned_away.due(screener.clock()), store, screener.turned_away.most)
    finally:
        await _write(screener.turned_away.due(float("inf")), store, screener.turned_away.most)


async def _write(due: Iterator[Refused], store: _Store, limit: int) -> None:
    for refused in due:
        try:
            await store.refused(refused, limit)
        except StoreError as error:
            _log.info("refusals are not recorded", code=error.code.value)
