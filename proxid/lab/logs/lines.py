"""Logs of one record a line, in blocks of whole lines: what TSV and JSON lines have in common.

A file larger than memory passes: one block is in memory at a time, and a line longer than MAX_LINE is a bad row.
"""

import gzip
import os
import zlib
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from proxid.errors import InputError
from proxid.lab.logs.base import LogReader
from proxid.lab.logs.batch import Dictionaries, LogBatch
from proxid.lab.logs.jit import Bytes, Scalar, compiled
from proxid.lab.logs.raw import SLACK
from proxid.loglines.head import BOM
from proxid.loglines.layout import MAX_LINE, Layout
from proxid.regular import open_stream


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines: data[start:stop] ends in a newline and has SLACK bytes behind. Good until the next block is read.

    `overlong`: the first line is the end of one that is too long.
    """

    data: Bytes
    start: int
    stop: int
    overlong: bool

    def text(self, limit: int | None = None) -> bytes:
        """The bytes of the lines, or the first ones."""
        stop = self.stop if limit is None else min(self.stop, self.start + limit)
        return self.data[self.start : stop].tobytes()

    def after(self, count: int) -> "Block":
        """The block without its first bytes."""
        return Block(self.data, self.start + count, self.stop, self.overlong)


class ByteSource:
    """The bytes of a plain or gzip file in blocks of whole lines."""

    def __init__(self, path: Path, compressed: bool, chunk: int) -> None:
        self._buffer: Bytes = np.zeros(chunk + MAX_LINE + 2 + SLACK, np.uint8)
        self._rest, self._skipping, self._chunk, self._name = 0, False, chunk, path.name
        try:
            self._raw = cast("BinaryIO", open_stream(path).detach())
            self.size = os.fstat(self._raw.fileno()).st_size
        except OSError as error:
            raise InputError(f"the log cannot be opened: {error.strerror}") from None
        self._file = cast("BinaryIO", gzip.GzipFile(fileobj=self._raw)) if compressed else self._raw

    @property
    def position(self) -> int:
        """Bytes of the file read so far (compressed bytes for gzip); of a pipe none is counted."""
        return self._raw.tell() if not self._raw.closed and self._raw.seekable() else self.size

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._raw.close()

    def _read(self, at: int) -> int:
        try:
            return self._file.readinto(self._buffer[at : at + self._chunk].data)  # type: ignore[attr-defined,no-any-return]
        except (OSError, EOFError, zlib.error):
            raise InputError(f"{self._name}: the log cannot be read to its end (damaged or cut short)") from None

    def blocks(self) -> Iterator[Block]:
        """Blocks in file order."""
        buffer = self._buffer
        while count := self._read(self._rest):
            stop = self._rest + count
            cut = last_newline(buffer, self._rest, stop) + 1
            if cut:
                yield Block(buffer, 0, cut, self._skipping)
                buffer[: stop - cut] = buffer[cut:stop]
                self._rest, self._skipping = stop - cut, False
            else:
                self._rest = 0 if self._skipping else stop
            if self._rest > MAX_LINE:
                self._rest, self._skipping = 0, True
        if self._rest or self._skipping:
            buffer[self._rest] = 10
            yield Block(buffer, 0, self._rest + 1, self._skipping)


@compiled
def last_newline(data: Bytes, start: Scalar, stop: Scalar) -> Scalar:
    """Where the last newline of `data[start:stop]` is, or -1."""
    at = stop - 1
    while at >= start and data[at] != 10:
        at -= 1
    return at if at >= start else -1


class LineReader(LogReader):
    """Reads blocks of lines into batches; a format says what the first block tells and what a block holds."""

    def __init__(
        self, path: Path, layout: Layout | None, compressed: bool, dictionaries: Dictionaries, chunk: int
    ) -> None:
        self._source = ByteSource(path, compressed, chunk)
        self._blocks = self._source.blocks()
        self._first = next(self._blocks, None)
        if self._first is not None and self._first.text(3) == BOM:
            self._first = self._first.after(3)
        head = b"" if self._first is None else self._first.text()
        try:
            found = self._layout(head, compressed)
        except InputError:
            self._source.close()
            raise
        super().__init__(path.name, dictionaries, layout or found)
        self.size, self._line = self._source.size, 0
        if found.header and self._first is not None:
            self._first, self._line = self._first.after(head.index(b"\n") + 1), 1

    @abstractmethod
    def _layout(self, head: bytes, compressed: bool) -> Layout:
        """The layout by the first lines. Raises InputError when they are of no log."""

    @abstractmethod
    def _read(self, block: Block) -> LogBatch | None:
        """The records of a block, if it has any; counts `_line`, `rows` and bad rows on."""

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def _batches(self) -> Iterator[LogBatch]:
        block = self._first
        while block is not None:
            batch = self._read(block)
            self.position = self._source.position
            if batch is not None and len(batch):
                yield batch
            block = next(self._blocks, None)
