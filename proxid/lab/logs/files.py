"""Opening and creating logs of every format (DESIGN 13).

A log is read as a stream of batches and written the same way; a written file takes its name only when it is whole.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from proxid.errors import InputError
from proxid.lab.logs.base import Classifier, LogReader, LogWriter
from proxid.lab.logs.batch import Dictionaries, LogBatch
from proxid.lab.logs.jsonl import JsonlReader, JsonlWriter
from proxid.lab.logs.parquet import ParquetReader, ParquetWriter
from proxid.lab.logs.tsv.read import TsvReader
from proxid.lab.logs.tsv.write import TsvWriter
from proxid.loglines.layout import Layout, layout_of


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
