"""Something else than a file in a file's place: a folder, a pipe, links to nowhere, a file of somebody else's."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _full_folder(path: Path) -> None:
    _folder(path)
    (path / path.name).write_bytes(b"x")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _linked(to: str) -> Callable[[Path], None]:
    def place(path: Path) -> None:
        path.unlink()
        path.symlink_to(to)

    return place


def _loop(path: Path) -> None:
    _linked(path.name)(path)


def _link(path: Path) -> None:
    """The file itself, elsewhere: as secrets and settings are mounted into containers."""
    other = path.with_name(f".{path.name}.elsewhere")
    shutil.move(path, other)
    path.symlink_to(other.name)


def _socket(path: Path) -> None:
    path.unlink()
    here = os.open(path.parent, os.O_RDONLY)  # its path may be longer than a socket's may be
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def _closed(path: Path) -> None:
    path.chmod(0)


PLACES: Final[dict[str, Callable[[Path], None]]] = {
    "gone": Path.unlink,
    "a folder": _folder,
    "a full folder": _full_folder,
    "a pipe": _pipe,
    "a link to nothing": _linked("nothing-here"),
    "a link to itself": _loop,
    "a link to it": _link,
    "a device": _linked("/dev/null"),
    "a socket": _socket,
    "closed to its reader": _closed,
}
"""`closed` is none to root, who may read whatever its rights are."""


def misplace(source: Random, path: Path, pipes: bool = True) -> str:
    """Put something in a file's place; what. Without `pipes` none is put there: it would be read to its end."""
    name = source.choice([name for name in PLACES if pipes or name != "a pipe"])
    PLACES[name](path)
    return name
