"""Bytes written whole or not at all: the kernel may take fewer than it was given, on a full volume for instance."""

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

OWNERS: Final = 0o600
EVERYBODYS: Final = 0o666
"""Less by the umask."""


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


def replace_whole(path: Path, data: bytes, mode: int = OWNERS, keep: bool = False) -> bool:
    """Put a small file in the place of another, or of none: after a crash the old one is there or the new, on the disk.

    It is written as `NAME.new`, which is locked meanwhile: whoever writes the same file waits, and what somebody left
    who was killed is written over.

    Args:
        mode: who may read and write it, `OWNERS` or `EVERYBODYS`. keep: leave a file that is there.

    Returns:
        False, and nothing changed, if one was to be kept.

    Raises:
        OSError: it cannot be written; nothing changed.
    """
    fresh = path.with_name(f"{path.name}.new")
    descriptor = _locked(fresh, mode)
    try:
        if keep and os.path.lexists(path):
            fresh.unlink()
            return False
        write_whole(descriptor, data)
        os.fsync(descriptor)
        # Not a link, and the other name taken away: not every file system has links, and who is killed in between
        # leaves a second name of what may be a key.
        os.replace(fresh, path)
    except OSError:
        with suppress(OSError):
            fresh.unlink()
        raise
    finally:
        os.close(descriptor)
    sync_folder(path.parent)
    return True


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _locked(fresh: Path, mode: int) -> int:
    """The descriptor of an empty file of this name, which is this caller's alone until it is closed."""
    while True:
        descriptor = os.open(fresh, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, mode)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_named(descriptor, fresh):  # else it has been put in its place, or taken away, while this one waited
                if os.fstat(descriptor).st_mode & 0o777 & ~mode:
                    os.fchmod(descriptor, mode)
                os.ftruncate(descriptor, 0)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_named(descriptor: int, name: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), name.lstat())
    except FileNotFoundError:
        return False
