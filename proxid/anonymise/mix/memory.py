"""What a pool remembers of everything that ever entered it: ids, texts by person, issuers of texts (DESIGN 8.7).

Waiting records come and go; this grows until the epoch ends. A service has it in memory or in its store, and an
auditor, who runs a whole day again, on disk.
"""

from typing import Final, Protocol

from proxid.anonymise.mix.ladder import Issuers
from proxid.anonymise.mix.types import Rung


class Ids(Protocol):
    """A set of ids."""

    def __contains__(self, item: object, /) -> bool:
        """Whether it was added."""
        ...

    def add(self, item: bytes, /) -> None:
        """Add one."""
        ...


class Texts(Protocol):
    """A set of (person, digest of the text)."""

    def __contains__(self, item: object, /) -> bool:
        """Whether it was added."""
        ...

    def add(self, item: tuple[str, bytes], /) -> None:
        """Add one."""
        ...


class Ladder(Protocol):
    """As `ladder.Issuers`."""

    def count(self, person: str, units: tuple[bytes, ...]) -> None:
        """Count a seasoned person as an issuer of each unit, once."""
        ...

    def rung(self, units: tuple[bytes, ...]) -> tuple[Rung, int | None]:
        """The highest rung that the units of a record reach, and the index of the unit that is shown."""
        ...


class PoolMemory(Protocol):
    """Makes the sets of one pool, each empty."""

    def submitted(self) -> Ids:
        """Ids of the records that were submitted."""
        ...

    def entered(self, audience: str) -> Texts:
        """Who entered which text in an audience."""
        ...

    def issuers(self, audience: str, threshold: int) -> Ladder:
        """How many distinct people issued each text and unit in an audience."""
        ...


class InMemory:
    """Plain sets."""

    def submitted(self) -> set[bytes]:
        """A set."""
        return set()

    def entered(self, audience: str) -> set[tuple[str, bytes]]:
        """A set, whatever the audience."""
        return set()

    def issuers(self, audience: str, threshold: int) -> Issuers:
        """The ladder's counts, whatever the audience."""
        return Issuers(threshold)


IN_MEMORY: Final = InMemory()
