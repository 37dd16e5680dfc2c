"""Append-only files of records that survive a crash at any byte.

    record = u32(length) ‖ u32(CRC-32 of data) ‖ data

A crash leaves a torn end; bits that rot leave a record whose check sum does not hold. Which of the two it is,
`segments` tells by what was acknowledged: only what lies behind that is ever cut off.
"""

import datetime
import errno
import fcntl
import os
import struct
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from proxid.errors import LogDamagedError
from proxid.runtime.whole import replace_whole

FRAME: Final = struct.Struct(">II")
_CHUNK: Final = 1 << 20
_NEAR: Final = 1 << 12
"""Bytes that are read at first: most records are shorter."""
MAX_RECORD: Final = 1 << 26


def frame(data: bytes) -> bytes:
    """A record."""
    return FRAME.pack(len(data), zlib.crc32(data)) + data


def read_record(descriptor: int, offset: int) -> bytes:
    """The record at an offset; raises LogDamagedError."""
    near = os.pread(descriptor, _NEAR, offset) if offset < 1 << 63 else b""
    if len(near) < FRAME.size:
        raise LogDamagedError("a record of the log is missing")
    length, check = FRAME.unpack_from(near)
    data = near[FRAME.size : FRAME.size + length]
    if len(data) < length <= MAX_RECORD:
        data = os.pread(descriptor, length, offset + FRAME.size)
    if len(data) != length or zlib.crc32(data) != check:
        raise LogDamagedError("a record of the log is damaged")
    return data


@contextmanager
def usable(folder: Path) -> Iterator[None]:
    """Within the block what cannot be opened is damage of a log; that nothing more fits stays an OSError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise LogDamagedError(f"{error.filename or folder}: cannot be used: {error.strerror}") from None


class AppendFile:
    """A file that grows by whole batches.

    Args:
        path: created if absent, readable by its owner alone.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        self.size = os.fstat(self._descriptor).st_size

    def append(self, data: bytes) -> None:
        """Append bytes; not yet durable."""
        view = memoryview(data)
        while view:
            written = os.write(self._descriptor, view[:_CHUNK])
            view = view[written:]
            self.size += written

    def sync(self) -> None:
        """Make everything appended durable."""
        os.fdatasync(self._descriptor)

    def truncate(self, size: int) -> None:
        """Cut off a torn end."""
        if size != self.size:
            os.ftruncate(self._descriptor, size)
            os.fsync(self._descriptor)
            self.size = size

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def append_records(file: AppendFile, records: Sequence[bytes]) -> list[int]:
    """Append records in one write; their offsets."""
    offsets, at = [], file.size
    framed = [frame(record) for record in records]
    for data in framed:
        offsets.append(at)
        at += len(data)
    file.append(b"".join(framed))
    return offsets


def lock_folder(folder: Path, seconds: float = 10.0) -> int:
    """Become the one writer of a folder; the descriptor that holds the lock until it is closed.

    Raises:
        LogDamagedError: somebody else writes it and does not stop in time.
    """
    descriptor = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except OSError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                raise LogDamagedError("the log is written by another process: stop the service first") from None
            time.sleep(0.05)


def archive(folder: Path, note: bytes, seconds: int) -> None:
    """Keep one head a day (UTC), the first that came: `folder/2026-11-29.note`.

    Args:
        seconds: Unix time at which it was cosigned.
    """
    day = datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
    path = folder / f"{day}.note"
    if not path.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        replace_whole(path, note)
