"""Files that are files, whoever put them there: a pipe would be waited for without end, a device read without end.

Where somebody names what is to be read, a log or an export, a pipe is as good as a file: `open_stream`.
"""

import errno
import io
import os
import stat
from pathlib import Path


def open_regular(path: Path) -> io.BufferedReader:
    """A file open for reading, or what a link leads to; raises OSError, also for a folder, a pipe or a device."""
    # Whoever opens a pipe waits for its writer, in SQLite or a thread beyond the reach of any signal.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, "is no regular file", str(path))
    return os.fdopen(descriptor, "rb")


def open_stream(path: Path) -> io.BufferedReader:
    """A file or a pipe open for reading, once the pipe has a writer; raises OSError, also for a folder or a device."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        os.close(descriptor)
        raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, "is neither file nor pipe", str(path))
    return os.fdopen(descriptor, "rb")


def regular_bytes(path: Path) -> bytes:
    """What a file holds; raises OSError as `open_regular`, and for one that is larger than the memory."""
    with open_regular(path) as file:
        try:
            return file.read()
        except MemoryError:
            raise OSError(errno.EFBIG, "is too large", str(path)) from None


def regular_text(path: Path, encoding: str = "utf-8") -> str:
    """The text that a file holds; raises OSError as `regular_bytes`, UnicodeDecodeError, which is a ValueError."""
    return io.TextIOWrapper(io.BytesIO(regular_bytes(path)), encoding).read()
