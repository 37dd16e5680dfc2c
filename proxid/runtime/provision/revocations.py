"""Revocations on disk (DESIGN 4.3): the EA's answer, which travels by hand, and what a gateway was brought.

answer                  {"revoked": [base64]}
DATA/revoked/HEX        each of them at the gateway, by its digest: kept for good, for a store that was lost
"""

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from proxid.crypto.revocation import Revocation
from proxid.errors import InputError, OutputError, ProxidError
from proxid.jsontext import load_json
from proxid.runtime.provision.public import write_public

FOLDER: Final = "revoked"


def write_revocations(path: Path, revocations: Iterable[Revocation]) -> None:
    """Write an answer; raises OutputError."""
    texts = [base64.b64encode(one.encode()).decode("ascii") for one in revocations]
    write_public(path, json.dumps({"revoked": texts}, indent=1) + "\n")


def read_revocations(path: Path) -> list[Revocation] | None:
    """The revocations of an answer, None for another file; raises InputError for one that is damaged."""
    try:
        data = load_json(path.read_text(encoding="utf-8"))
        texts = data["revoked"]
    except OSError:
        raise InputError(f"{path.name}: the file cannot be read") from None
    except (ValueError, KeyError, TypeError):
        return None
    try:
        return [Revocation.decode(base64.b64decode(text, validate=True)) for text in texts]
    except (ValueError, TypeError, ProxidError):
        raise InputError(f"{path.name}: a revocation is damaged") from None


def bring_revocations(data_dir: Path, revocations: Iterable[Revocation], authority: bytes) -> int:
    """Put revocations where a gateway finds them, running or not; how many.

    Raises:
        SignatureInvalidError, CredentialError: one is not the EA's. OutputError: one cannot be written.
    """
    found = list(revocations)
    for one in found:
        one.verify(authority)
    folder = data_dir / FOLDER
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"{folder.name}: the folder cannot be created") from None
    for one in found:
        write_public(folder / one.digest.hex(), base64.b64encode(one.encode()).decode("ascii"))
    return len(found)


def brought(data_dir: Path, known: Iterable[str]) -> Iterable[tuple[str, Revocation | None]]:
    """What lies there besides what is known, by the file's name; None for a file that is no revocation."""
    folder = data_dir / FOLDER
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    for name in sorted(names.difference(known)):
        try:
            yield name, Revocation.decode(base64.b64decode((folder / name).read_bytes(), validate=True))
        except (OSError, ValueError, ProxidError):
            yield name, None
