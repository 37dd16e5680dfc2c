"""The end of the store's own append-only file: how far it is whole, and what lies behind (RESP arrays, Redis protocol).

A power cut leaves a torn command or, on some file systems, zeros. Neither was ever acknowledged with `appendfsync
always`. Bytes of any other kind behind a bad one were: they are never cut off.
"""

import re
from pathlib import Path
from typing import Final

from proxid.errors import StoreError
from proxid.regular import regular_bytes

FOLDER: Final = "appendonlydir"
_COUNT: Final = re.compile(rb"[*$](\d{1,10})\r\n")
_ANNOTATION: Final = re.compile(rb"#[^\r\n]*\r\n")
_NUMBER: Final = re.compile(r"\.[0-9]{1,18}\.incr\.aof$")
_LONGEST: Final = 32


def newest(folder: Path) -> Path | None:
    """The file that a store in a folder appends to, which alone can have a torn end; None if there is none."""
    files = [path for path in (folder / FOLDER).glob("*.incr.aof") if _NUMBER.search(path.name)]
    return max(files, key=lambda path: int(path.name.split(".")[-3]), default=None)


def whole_until(data: bytes) -> int:
    """Bytes up to the end of the last whole command that is not within an open transaction."""
    at, safe, within = 0, 0, False
    while True:
        found = _command(data, at)
        if found is None:
            return safe
        at, name = found
        within = name == b"MULTI" or (within and name != b"EXEC")
        if not within:
            safe = at


def _command(data: bytes, at: int) -> tuple[int, bytes] | None:
    """Where the command at an offset ends, and its name in capitals; None if it is not whole."""
    note = _ANNOTATION.match(data, at)
    if note:
        return note.end(), b""
    head = _COUNT.match(data, at, at + _LONGEST)
    if head is None or data[at : at + 1] != b"*":
        return None
    at, name = head.end(), b""
    for position in range(int(head[1])):
        size = _COUNT.match(data, at, at + _LONGEST)
        if size is None or data[at : at + 1] != b"$":
            return None
        end = size.end() + int(size[1])
        if data[end : end + 2] != b"\r\n":
            return None
        name = data[size.end() : end].upper() if position == 0 else name
        at = end + 2
    return at, name


def cut_torn_end(folder: Path) -> tuple[str, int]:
    """Cut a torn or zero-padded end off; the file's name, and how many bytes.

    Raises:
        StoreError: what lies behind a bad byte is no torn end; nothing was changed.
    """
    path = newest(folder)
    if path is None:
        raise StoreError(f"{folder}: holds no append-only file").at(str(folder))
    try:
        data = regular_bytes(path)
    except OSError:
        raise StoreError(f"{path}: cannot be read; nothing was changed").at(str(path)) from None
    whole = whole_until(data)
    rest = data[whole:].rstrip(b"\0")
    # A command that was cut off is the last thing in its file; one that is damaged is followed by others.
    if rest and re.search(rb"\r\n\*\d{1,10}\r\n\$", rest) and not _is_open_transaction(rest):
        raise StoreError(
            f"{path}: is damaged at byte {whole}, and {len(rest)} bytes follow that are no torn end; nothing was "
            f"changed. Put back the newest copy of the store's folder"
        )
    if whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)
    return path.name, len(data) - whole


def _is_open_transaction(rest: bytes) -> bool:
    """Whether whole commands follow that belong to a transaction whose end was cut off."""
    first = _command(rest, 0)
    if first is None or first[1] != b"MULTI":
        return False
    at = first[0]
    while (found := _command(rest, at)) is not None:
        at = found[0]
    return not re.search(rb"\r\n\*\d{1,10}\r\n\$", rest[at:])
