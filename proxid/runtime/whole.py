"""Bytes written whole or not at all: the kernel may take fewer than it was given, on a full volume for instance."""

import errno
import os


def write_whole(descriptor: int, data: bytes) -> None:
    """Write all of it where the descriptor stands; raises OSError, with less written."""
    view = memoryview(data)
    while view:
        written = os.write(descriptor, view)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]


def append_whole(descriptor: int, data: bytes) -> None:
    """Append to a file that nobody else writes now; if that fails, cut it back to its old end and raise OSError."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    try:
        write_whole(descriptor, data)
    except OSError:
        os.ftruncate(descriptor, end)
        os.lseek(descriptor, end, os.SEEK_SET)
        raise
