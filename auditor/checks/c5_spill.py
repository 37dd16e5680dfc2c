"""What the replay of an epoch remembers until its end, on disk (check 5 of DESIGN 10.4): memory stays flat.

Ids, texts and issuers are kept as keyed hashes of 16 and 8 bytes. The key is drawn for each auditor's state and sealed
with it, so the file alone tells nobody who said what.
"""

import hashlib
import os
from typing import Final

from auditor.checks.c7_completeness import Sets
from proxid.anonymise.mix.types import Rung
from proxid.encoding import encode

_ID: Final = 16
_PERSON: Final = 8
_ENOUGH: Final = b""
"""In the place of the issuers, once there are enough of them."""


class Spill:
    """Keyed hashes in the audit's database.

    Args:
        sets: the database.

    Attributes:
        key: of the hashes; whoever goes on in the same database sets it to the one that they were made with.
    """

    def __init__(self, sets: Sets) -> None:
        self.key = os.urandom(32)
        self._sets = sets

    def hash(self, items: tuple[str | bytes, ...], size: int = _ID) -> bytes:
        """The keyed hash of some items."""
        return hashlib.blake2b(encode(*items), key=self.key, digest_size=size).digest()

    def get(self, epoch: int, identity: bytes) -> bytes | None:
        """What was put; None if nothing was."""
        return self._sets.remembered(epoch, identity)

    def put(self, epoch: int, identity: bytes, value: bytes = b"") -> None:
        """Remember, in the place of what was put before."""
        self._sets.remember(epoch, identity, value)

    def drop(self, epoch: int) -> None:
        """Forget an epoch."""
        self._sets.forget(epoch)


class SpilledSet:
    """A set of ids, or of (person, text)."""

    def __init__(self, spill: Spill, epoch: int, name: str) -> None:
        self._spill, self._epoch, self._name = spill, epoch, name
        self._hashed: tuple[object, bytes] = (None, b"")
        """What was hashed last: whoever adds an item has asked for it before."""

    def _hash(self, item: object) -> bytes:
        if item != self._hashed[0]:
            parts: tuple[str | bytes, ...] = item if isinstance(item, tuple) else (item,)
            self._hashed = (item, self._spill.hash((self._name, *parts)))
        return self._hashed[1]

    def __contains__(self, item: object, /) -> bool:
        return self._spill.get(self._epoch, self._hash(item)) is not None

    def add(self, item: bytes | tuple[str, bytes], /) -> None:
        """Add one."""
        self._spill.put(self._epoch, self._hash(item))


class SpilledIssuers:
    """The ladder's counts, as `ladder.Issuers` has them in memory."""

    def __init__(self, spill: Spill, epoch: int, name: str, threshold: int) -> None:
        self._spill, self._epoch, self._name, self._enough = spill, epoch, name, threshold * _PERSON

    def count(self, person: str, units: tuple[bytes, ...]) -> None:
        """Count a seasoned person as an issuer of each unit, once."""
        mine = self._spill.hash((person,), _PERSON)
        for unit in units:
            identity = self._spill.hash((self._name, unit))
            known = self._spill.get(self._epoch, identity)
            if known is None:
                known = b""
            elif known == _ENOUGH or mine in _split(known):
                continue
            known += mine
            self._spill.put(self._epoch, identity, known if len(known) < self._enough else _ENOUGH)

    def rung(self, units: tuple[bytes, ...]) -> tuple[Rung, int | None]:
        """The highest rung that the units of a record reach, and the index of the unit that is shown."""
        for index, unit in enumerate(units):
            if self._spill.get(self._epoch, self._spill.hash((self._name, unit))) == _ENOUGH:
                return (Rung.UNIT, index) if index else (Rung.TEXT, 0)
        return Rung.CATEGORY, None


def _split(people: bytes) -> list[bytes]:
    return [people[at : at + _PERSON] for at in range(0, len(people), _PERSON)]


class EpochMemory:
    """The memory of one epoch's pool, on disk."""

    def __init__(self, spill: Spill, epoch: int) -> None:
        self._spill, self._epoch = spill, epoch

    def submitted(self) -> SpilledSet:
        """Ids of the records that were submitted."""
        return SpilledSet(self._spill, self._epoch, "id")

    def entered(self, audience: str) -> SpilledSet:
        """Who entered which text in an audience."""
        return SpilledSet(self._spill, self._epoch, f"text|{audience}")

    def issuers(self, audience: str, threshold: int) -> SpilledIssuers:
        """How many distinct people issued each text and unit in an audience."""
        return SpilledIssuers(self._spill, self._epoch, f"unit|{audience}", threshold)
