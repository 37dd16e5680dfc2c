"""Keys of people that are over, and since when (check 3 of DESIGN 10.4): between what was asked before and after."""

import hashlib
from typing import Final, NamedTuple

from auditor.findings import GATEWAY, SIGNATURES, Report, Unchecked
from proxid.encoding import encode

_SKEWS: Final = 2
"""A device's clock and the gateway's may each be off by one."""


class EndedKey(NamedTuple):
    """Since when, by the gateway's clock (Unix seconds), a user's key is over; whether it was revoked, not replaced."""

    time: int
    revoked: bool


class EnrolledKey(NamedTuple):
    """The key of a user that was enrolled last, by which event, and the one before; empty if there is none."""

    key: bytes
    event: int
    before: bytes


def name_of_key(user_id: str, key: bytes) -> bytes:
    """What a user's key is remembered by, 16 bytes."""
    return hashlib.sha256(encode(user_id, key)).digest()[:16]


class EndedKeys:
    """By name of user and key.

    A gateway that says a time which has not come would have rights of the key pass until then. So a key is over at
    the latest when something is asked behind it that the gateway found fresh. Its clock may have been wrong, which is
    no lie: that is told, as something that nobody can check. One that was behind makes no key be over before what
    stands before it in the log was asked: rights of that time may still come to be recorded.

    Args:
        skew: seconds by which a clock may be off.
    """

    def __init__(self, skew: float) -> None:
        self._skew = skew
        self.keys: dict[bytes, EndedKey] = {}
        self.said: list[bytes] = []
        """Whose times nothing that was asked later has confirmed."""
        self.latest = 0
        """Unix seconds of the latest that was asked so far."""
        self._early = 0

    def end(self, name: bytes, time: int, revoked: bool) -> None:
        """A key is over: since the earlier time, if that is said twice."""
        before, time = self.keys.get(name), max(time, self.latest - int(_SKEWS * self._skew))
        if before is None or time <= before.time:
            self.said.append(name)
        else:
            time = before.time
        self.keys[name] = EndedKey(time, revoked or (before is not None and before.revoked))

    def asked(self, time_ms: int) -> None:
        """Something was asked that the gateway had found fresh (Unix milliseconds, by a device's clock)."""
        self.latest, latest = max(self.latest, time_ms // 1000), int(time_ms / 1000 + _SKEWS * self._skew)
        said, self.said = self.said, []
        for name in said:
            ended = self.keys[name]
            if ended.time > latest:
                self.keys[name] = ended._replace(time=latest)
                self._early += 1

    def finish(self, report: Report) -> None:
        """At the end of an audit."""
        if self._early:
            text = f"{self._early} keys were over at times that had not come; they count from the next request"
            report.missing.append(Unchecked(SIGNATURES, GATEWAY, text))
