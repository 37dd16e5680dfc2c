"""Keys of people that are over, and since when (check 3 of DESIGN 10.4): between what was asked before and after."""

import hashlib
from collections.abc import Callable
from typing import Final, NamedTuple

from auditor.findings import GATEWAY, SIGNATURES, Report, Unchecked
from proxid.encoding import encode

_SKEWS: Final = 2
"""A device's clock and the gateway's may each be off by one."""


class EndedKey(NamedTuple):
    """Since when a user's key is over, by the gateway's clock (Unix seconds).

    Attributes:
        time: what is asked later with it is a violation. revoked: it was, and not replaced.
        doubt: what is asked later than this may be one; no later than `time`.
    """

    time: int
    revoked: bool
    doubt: int


class EnrolledKey(NamedTuple):
    """The key of a user that was enrolled last, by which event, and the one before; empty if there is none."""

    key: bytes
    event: int
    before: bytes


class Entered(NamedTuple):
    """ENROLLED, which stands in one step with the first link by it.

    Attributes:
        first: PROX_ID and subject tag of that link. time: Unix seconds; None in one from before.
    """

    user_id: str
    first: tuple[str, bytes]
    time: int | None


class EndedState(NamedTuple):
    """An `EndedKeys`, for storing."""

    keys: dict[bytes, EndedKey]
    said: dict[bytes, int]
    latest: int
    answered: int
    doubted: int


def name_of_key(user_id: str, key: bytes) -> bytes:
    """What a user's key is remembered by, 16 bytes."""
    return hashlib.sha256(encode(user_id, key)).digest()[:16]


class EndedKeys:
    """By name of user and key.

    A gateway that says a time which has not come would have rights of the key pass until then. So a key is over at
    the latest when something is asked behind it that the main service answers. Its clock may have been wrong, which is
    no lie: that is told, as something that nobody can check. One that was behind makes no key be over before what
    stands before it in the log was asked: rights of that time may still come to be recorded.

    What is asked, and not answered, may say any time: an accomplice of the gateway asks, or chooses, as of next year.
    So it excuses no right, and accuses none: one that rests on it is `unchecked`.

    Args:
        skew: gives the seconds by which a clock may be off.
    """

    def __init__(self, skew: Callable[[], float]) -> None:
        self._skew = skew
        self.keys: dict[bytes, EndedKey] = {}
        self._said: dict[bytes, int] = {}
        """Whose times nothing that was answered later has confirmed, and by which event they are over."""
        self._latest = self._answered = 0
        """Unix seconds of the latest that was asked so far, and of the latest that was answered."""
        self._doubted = 0
        self._early = set[bytes]()

    @property
    def _off(self) -> int:
        return int(_SKEWS * self._skew())

    def end(self, name: bytes, time: int, revoked: bool, event: int = 0) -> None:
        """A key is over by an event: since the earlier time, if that is said twice."""
        before, said = self.keys.get(name), time
        time, doubt = (max(said, latest - self._off) for latest in (self._latest, self._answered))
        if before is None or time <= before.time:
            self._said[name] = event
        if before is not None:
            time, doubt = min(time, before.time), min(doubt, before.doubt)
        self.keys[name] = EndedKey(time, revoked or (before is not None and before.revoked), doubt)

    def asked(self, time_ms: int) -> None:
        """Something was asked that the gateway says it found fresh (Unix milliseconds, by a device's clock)."""
        self._latest = max(self._latest, time_ms // 1000)
        for name in self._said:
            self._is_over(name, time_ms, self.keys[name].time)

    def answered(self, time_ms: int, forwarded: int) -> None:
        """The main service answered what was asked then, which it found fresh, too.

        Args:
            forwarded: number of FORWARDED. What was over behind it may have been long after it was asked.
        """
        self._answered = max(self._answered, time_ms // 1000)
        for name in [name for name, event in self._said.items() if event < forwarded]:
            del self._said[name]
            self._is_over(name, time_ms, int(time_ms / 1000) + self._off)

    def _is_over(self, name: bytes, time_ms: int, firm: int) -> None:
        ended, latest = self.keys[name], int(time_ms / 1000) + self._off
        if ended.doubt > latest:
            self._early.add(name)
        self.keys[name] = ended._replace(time=min(ended.time, firm), doubt=min(ended.doubt, latest))

    def holds(self, name: bytes, time_ms: int) -> bool:
        """Whether a key that is over was not yet, or may not have been, when a right was asked for."""
        ended = self.keys[name]
        self._doubted += ended.doubt < time_ms / 1000 - self._off <= ended.time
        return time_ms / 1000 - self._off <= ended.time

    def finish(self, report: Report) -> None:
        """At the end of an audit."""
        if self._early:
            text = f"{len(self._early)} keys were over at times that had not come; they count from the next request"
            report.missing.append(Unchecked(SIGNATURES, GATEWAY, text))
        if self._doubted:
            text = f"{self._doubted} rights were exercised with keys that were over by then, by what the main service"
            text += " answered: other requests or choices say another time, or its clock was wrong"
            report.missing.append(Unchecked(SIGNATURES, GATEWAY, text))

    def state(self) -> EndedState:
        """For storing."""
        return EndedState(self.keys, self._said, self._latest, self._answered, self._doubted)

    def restore(self, state: EndedState) -> None:
        """Go on from a state."""
        self.keys, self._said, self._latest, self._answered, self._doubted = state
