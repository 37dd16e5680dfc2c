"""A process's place on disk: a private folder, locks, and a socket path short enough for the kernel."""

import fcntl
import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from proxid.errors import ConfigError

MAX_SOCKET_PATH: Final = 100
"""Bytes; the kernel takes 107."""


def make_private(folder: Path) -> None:
    """Make a folder, or accept one, that is the caller's and nobody else's.

    Raises:
        ConfigError: it cannot be made, or it is somebody else's: in a shared folder that may be an attack.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise ConfigError("data_dir: the folder cannot be made") from None
    verify_own(folder)
    folder.chmod(0o700)


def verify_own(folder: Path) -> None:
    """Raises ConfigError unless it is a folder, no link to one, and the caller's."""
    try:
        status = folder.lstat()
    except OSError:
        raise ConfigError("data_dir: the folder is away") from None
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise ConfigError("data_dir: the folder is not a folder of this user")


def socket_path(folder: Path, name: str = "store.sock") -> Path:
    """Where a server listens: in the folder, or, if that path is too long, in a short one that follows from it."""
    inside = folder / name
    if len(os.fsencode(inside)) <= MAX_SOCKET_PATH:
        return inside
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"proxid-{os.geteuid()}-{digest}" / name


def take_lock(path: Path) -> int | None:
    """The descriptor of an exclusively locked file, or None if another process holds it.

    The lock ends with the last copy of the descriptor, however its holder ended.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
