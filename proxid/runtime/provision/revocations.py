"""Revocations on disk (DESIGN 4.3): the EA's answer, which travels by hand, and what a gateway was brought.

answer                  {"revoked": [base64]}
DATA/revoked/HEX        each of them at the gateway, by its digest: for a store that was lost, until erasure
"""

import base64
import json
import os
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from typing import Final

from proxid.crypto.revocation import Revocation
from proxid.errors import MALFORMED, InputError, OutputError, ProxidError
from proxid.jsontext import load_json
from proxid.regular import regular_bytes, regular_text
from proxid.runtime.provision.public import write_public

FOLDER: Final = "revoked"
NEW: Final = ".new"
"""Ending of a file that is being written."""


def write_revocations(path: Path, revocations: Iterable[Revocation]) -> None:
    """Write an answer; raises OutputError."""
    texts = [base64.b64encode(one.encode()).decode("ascii") for one in revocations]
    write_public(path, json.dumps({"revoked": texts}, indent=1) + "\n")


def read_revocations(path: Path) -> list[Revocation] | None:
    """The revocations of an answer, None for another file; raises InputError for one that is damaged."""
    try:
        data = load_json(regular_text(path))
        texts = data["revoked"]
    except OSError:
        raise InputError(f"{path.name}: the file cannot be read") from None
    except MALFORMED:
        return None
    try:
        return [Revocation.decode(base64.b64decode(text, validate=True)) for text in texts]
    except (ProxidError, *MALFORMED):
        raise InputError(f"{path.name}: a revocation is damaged") from None


def bring_revocations(data_dir: Path, revocations: Iterable[Revocation], authority: bytes) -> int:
    """Put revocations where a gateway finds them, running or not; how many.

    They are the data folder's owner's, whoever brings them: the gateway has to read them, and to take them out.

    Raises:
        SignatureInvalidError, CredentialError: one is not the EA's. OutputError: one cannot be written.
    """
    found = list(revocations)
    for one in found:
        one.verify(authority)
    folder = data_dir / FOLDER
    try:
        if not data_dir.exists():
            data_dir.mkdir(mode=0o700, parents=True)
            _give(data_dir, data_dir.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _give(folder, data_dir)
        for one in found:
            path = folder / one.digest.hex()
            write_public(path, base64.b64encode(one.encode()).decode("ascii"))
            _give(path, data_dir)
    except OSError:
        raise OutputError(f"{folder.name}: the folder cannot be written") from None
    return len(found)


def _give(path: Path, like: Path) -> None:
    """Another path's owner to one; only root can, and whoever else writes there is the owner. Raises OSError."""
    if os.geteuid() == 0:
        owner = like.stat()
        os.chown(path, owner.st_uid, owner.st_gid)


Seen = tuple[str, int]
"""A file by its name and the time at which it was written (nanoseconds): one that was copied halfway changes."""


def brought(data_dir: Path, known: Container[Seen]) -> Iterator[tuple[Seen, Revocation | None]]:
    """What lies there besides what is known; None for a file that is no revocation.

    Raises:
        InputError: once the others were told, if one cannot be read now, which says nothing of what it holds.
    """
    unread = False
    for path in _files(data_dir):
        try:
            seen = path.name, path.stat().st_mtime_ns
            if seen in known:
                continue
            data = regular_bytes(path)
        except FileNotFoundError:
            continue  # its writer has put it in its place
        except OSError:
            unread = True
            continue
        try:
            yield seen, Revocation.decode(base64.b64decode(data, validate=True))
        except (ValueError, ProxidError):
            yield seen, None
    if unread:
        raise InputError(f"{FOLDER}: a revocation cannot be read")


def _files(data_dir: Path) -> list[Path]:
    """Raises InputError."""
    try:
        return sorted((data_dir / FOLDER).iterdir())
    except FileNotFoundError:
        return []
    except OSError:
        raise InputError(f"{FOLDER}: the folder cannot be read") from None


def forget_revocations(data_dir: Path, is_gone: Callable[[str], bool]) -> None:
    """Take out the revocations of people who are gone, by their USER_ID, half-written ones too.

    Raises:
        InputError: what may be such a one cannot be read. OutputError: one cannot be taken out.
    """
    for (name, _), found in brought(data_dir, ()):
        if found is None or not is_gone(found.user_id):
            continue
        try:
            (data_dir / FOLDER / name).unlink(missing_ok=True)
        except OSError:
            raise OutputError(f"{FOLDER}: a revocation cannot be taken out") from None


def drop_unfinished(data_dir: Path) -> None:
    """Take out what a writer that crashed has left, where nobody writes; raises InputError, OutputError."""
    for path in _files(data_dir):
        if path.name.endswith(NEW):
            try:
                path.unlink(missing_ok=True)
            except OSError:
                raise OutputError(f"{FOLDER}: an unfinished file cannot be taken out") from None
