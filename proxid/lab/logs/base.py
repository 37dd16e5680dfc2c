"""What reads and writes a log, whatever its format (DESIGN 13)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Self

from proxid.errors import InputError
from proxid.lab.logs.batch import NONE, Dictionaries, LogBatch
from proxid.loglines.layout import FIELDS, BadRows, Layout

Classifier = Callable[[str], str]
"""Text of a query -> path of its category with `/`, or "" when it has none."""


class LogReader(ABC):
    """A log being read: iterate it for batches; `bad`, `rows` and `position` grow as it goes, and `uncategorised`, the
    number of rows without a category.

    `layout` is known once the log is open, `name` is the file's. A field taken out of `wanted` may come empty (a URL
    that nobody looks at need not be kept). `position` and `size` are bytes of the file, for a progress bar.
    """

    def __init__(self, name: str, dictionaries: Dictionaries, layout: Layout) -> None:
        self.name, self.dictionaries, self.layout = name, dictionaries, layout
        self.bad, self.rows, self.position, self.size = BadRows(), 0, 0, 0
        self.uncategorised = 0
        self.wanted: frozenset[str] = frozenset(FIELDS)

    def __iter__(self) -> Iterator[LogBatch]:
        """Batches in file order. Raises InputError, with the reasons, for a log of which no row could be read."""
        for batch in self._batches():
            self.uncategorised += int((batch.category == NONE).sum())
            yield batch
        if not self.rows and len(self.bad):
            raise InputError(f"{self.name}: no row of the log could be read: {self.bad.said()}")

    @abstractmethod
    def _batches(self) -> Iterator[LogBatch]:
        """Batches in file order."""

    def close(self) -> None:  # noqa: B027 (optional)
        """Let go of the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()


class LogWriter(ABC):
    """A log being written; leaving the `with` block without an error gives the file its name, else nothing stays."""

    def __init__(self, dictionaries: Dictionaries, layout: Layout) -> None:
        self.dictionaries, self.layout, self.rows = dictionaries, layout, 0

    @abstractmethod
    def write(self, batch: LogBatch) -> None:
        """Append the records of a batch. Raises OutputError when the disk does not take them."""

    @abstractmethod
    def close(self) -> None:
        """Finish the file and give it its name."""

    @abstractmethod
    def abandon(self) -> None:
        """Remove what was written."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()
