"""How a party is told whose a record is: one name for all kinds of a person's requests (DESIGN 7, 9).

A policy document says it by `alias_period`. "epoch": everything as the bundle says, under the USER_ID or under an alias
of the epoch. A number of seconds, in documents of before: general requests as the bundle says, under aliases that
change after so long, and places and commands under an alias of the day. Those two names of one person are joined by
time alone, so that no new document has them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from proxid.errors import EncodingError
from proxid.protocol.epochs import Epochs

ALIAS_EPOCH: Final = "epoch"
"""What a document says whose aliases are of an epoch, for all kinds."""

_GENERAL: Final = "general"
_DAY: Final = 86_400
_DAYS: Final = 1 << 32
_EPOCHS: Final = 1 << 33
"""Above these, periods are numbered by the day and by the epoch; below, by `alias_seconds`."""
_KEYED: Final = 1 << 34
"""Added to periods of epochs with feed keys, whose aliases have keys of their own."""


@dataclass(frozen=True, slots=True)
class Naming:
    """What a document means.

    Attributes:
        alias_seconds: of documents of before, after which the aliases of general requests change; None: one name.
    """

    alias_seconds: int | None = None

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Naming":
        """Of a document's settings; raises EncodingError if they say nothing of it."""
        said = settings.get("alias_period")
        if said == ALIAS_EPOCH:
            return cls()
        if not isinstance(said, int | float) or said < 1:
            raise EncodingError("policy document does not say how long an alias lasts")
        return cls(int(said))

    @property
    def one(self) -> bool:
        """Whether a party gets all kinds under one name."""
        return self.alias_seconds is None

    def fidelity(self, kind: str, granted: str) -> str:
        """How a record names its user where a bundle says `user_id` or `alias`: that, or `day` for an alias of it."""
        return granted if self.one or kind == _GENERAL else "day"

    def period(self, kind: str, epoch: int, time_ms: int, keyed: bool) -> int:
        """The period that an alias of a record is for.

        Args:
            time_ms: of the record's header. keyed: whether the epoch has feed keys.
        """
        above = _KEYED if keyed else 0
        if self.alias_seconds is None:
            return above + _EPOCHS + epoch
        time = time_ms // 1000
        return above + (time // self.alias_seconds if kind == _GENERAL else _DAYS + time // _DAY)

    def until(self, period: int, epochs: Epochs) -> int:
        """Unix seconds until which the key of a period is kept: a period after its end."""
        number = period % _KEYED
        if number >= _EPOCHS:
            return epochs.end(number - _EPOCHS) + epochs.seconds
        seconds = _DAY if number >= _DAYS else self.alias_seconds or _DAY
        return (number % _DAYS + 2) * seconds


def is_keyed(period: int) -> bool:
    """Whether the aliases of a period have a key of their own."""
    return period >= _KEYED
