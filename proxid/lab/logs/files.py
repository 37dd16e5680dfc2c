"""Opening and creating logs of every format (DESIGN 13).

A log is read as a stream of batches and written the same way; a written file takes its name only when it is whole.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from proxid.errors import InputError
from proxid.lab.logs.batch import Dictionaries, LogBatch
from proxid.loglines.layout import FIELDS, BadRows, Layout, layout_of

Classifier = Callable[[str], str]
"""Text of a query -> path of its category with `/`, or "" when it has none."""


class LogReader(ABC):
    """A log being read: iterate it for batches; `bad`, `rows` and `position` grow as it goes.

    `layout` is known once the log is open, `name` is the file's. A field taken out of `wanted` may come empty (a URL
    that nobody looks at need not be kept). `position` and `size` are bytes of the file, for a progress bar.
    """

    def __init__(self, name: str, dictionaries: Dictionaries, layout: Layout) -> None:
        self.name, self.dictionaries, self.layout = name, dictionaries, layout
        self.bad, self.rows, self.position, self.size = BadRows(), 0, 0, 0
        self.wanted: frozenset[str] = frozenset(FIELDS)

    def __iter__(self) -> Iterator[LogBatch]:
        """Batches in file order. Raises InputError, with the reasons, for a log of which no row could be read."""
        yield from self._batches()
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


def open_log(
    path: Path | str,
    *,
    layout: Layout | None = None,
    dictionaries: Dictionaries | None = None,
    classifier: Classifier | None = None,
    batch_bytes: int = 1 << 22,
) -> LogReader:
    """Open a log for reading; its fields are found from its first lines unless a layout says them.

    Pass the dictionaries of another log to get comparable codes, and a classifier to file records without category.
    Raises InputError when the file cannot be opened or is no log.
    """
    from proxid.lab.logs.jsonl import JsonlReader
    from proxid.lab.logs.parquet import ParquetReader
    from proxid.lab.logs.tsv import TsvReader

    path = Path(path)
    with naming(path):
        asked = layout or layout_of(path)
        known = dictionaries if dictionaries is not None else Dictionaries()
        if asked.format == "parquet":
            return ParquetReader(path, layout, known, classifier)
        reader = TsvReader if asked.format == "tsv" else JsonlReader
        return reader(path, layout, asked.compressed, known, classifier, batch_bytes)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's name before what an InputError says."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path.name}: {error.rule}") from None


def create_log(path: Path | str, layout: Layout | None, dictionaries: Dictionaries) -> LogWriter:
    """Start writing a log; `None` takes the layout from the name. Raises InputError, OutputError."""
    from proxid.lab.logs.jsonl import JsonlWriter
    from proxid.lab.logs.parquet import ParquetWriter
    from proxid.lab.logs.tsv_write import TsvWriter

    path = Path(path)
    chosen = layout or layout_of(path)
    writers: dict[str, Callable[[Path, Layout, Dictionaries], LogWriter]] = {
        "tsv": TsvWriter,
        "jsonl": JsonlWriter,
        "parquet": ParquetWriter,
    }
    return writers[chosen.format](path, chosen, dictionaries)


def read_log(
    path: Path | str, *, dictionaries: Dictionaries | None = None, classifier: Classifier | None = None
) -> tuple[LogBatch, LogReader]:
    """A whole log as one batch, and its (closed) reader with dictionaries, layout and bad rows."""
    with open_log(path, dictionaries=dictionaries, classifier=classifier) as log:
        return LogBatch.concatenate(list(log)), log
