"""Secret keys on disk: one line `KIND BASE64`, readable by the owner alone (DESIGN 16).

    proxid-ed25519-seed …    32 bytes        proxid-hpke-seed …    96 bytes        proxid-secret …    32 bytes

The kind stands in the file, so a key can not be used for what it was not made for. A key file is never overwritten.
"""

import base64
import binascii
import os
from pathlib import Path
from typing import Final

from proxid.crypto import ed25519, hpke
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.errors import KeyInvalidError, OutputError
from proxid.regular import open_regular
from proxid.runtime.whole import replace_whole

SIGNING: Final = "proxid-ed25519-seed"
OPENING: Final = "proxid-hpke-seed"
SECRET: Final = "proxid-secret"  # noqa: S105 - the kind of a file, not a password
SIZES: Final = {SIGNING: ed25519.SEED_SIZE, OPENING: hpke.SEED_SIZE, SECRET: 32}

_MAX_FILE: Final = 4096


def write_private(path: Path, data: bytes) -> bool:
    """Create a file that its owner alone may read: whole, or not at all.

    Returns:
        False, and nothing written, if it exists.

    Raises:
        OutputError: it cannot be written.
    """
    # Half a key, as a full disk or a crash would leave it, would be kept as the key.
    try:
        return not path.exists() and replace_whole(path, data, keep=True)
    except OSError:
        raise OutputError(f"{path.name}: the file cannot be created").at(str(path)) from None


def replace_private(path: Path, data: bytes) -> None:
    """Put a file that its owner alone may read in the place of another, or of none; raises OutputError."""
    try:
        replace_whole(path, data)
    except OSError:
        raise OutputError(f"{path.name}: the file cannot be written").at(str(path)) from None


def read_private(path: Path) -> bytes:
    """Contents of a file that its owner alone may read.

    Raises:
        KeyInvalidError: missing, too large, or others may read it: then the key counts as lost.
    """
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            if status.st_mode & 0o077:
                raise KeyInvalidError(f"{path.name}: the key file may be read by others than its owner").at(str(path))
            data = file.read(_MAX_FILE + 1)
    except OSError:
        raise KeyInvalidError(f"{path.name}: the key file cannot be read").at(str(path)) from None
    if len(data) > _MAX_FILE:
        raise KeyInvalidError(f"{path.name}: the key file is too large").at(str(path))
    return data


def create_key(path: Path, kind: str) -> bool:
    """Make a key of a kind; returns False if there is one already, which is kept."""
    return write_private(path, encode_key(kind, os.urandom(SIZES[kind])))


def encode_key(kind: str, secret: bytes) -> bytes:
    """The line that holds a secret."""
    return f"{kind} {base64.b64encode(secret).decode('ascii')}\n".encode("ascii")


def load_key(path: Path, kind: str) -> bytes:
    """The secret bytes of a key file; raises KeyInvalidError for another kind or size, or a readable file."""
    found, _, text = read_private(path).strip().partition(b" ")
    if found != kind.encode("ascii"):
        raise KeyInvalidError(f"{path.name}: not a key file of kind {kind}").at(str(path))
    try:
        secret = base64.b64decode(text, validate=True)
    except binascii.Error:
        secret = b""
    if len(secret) != SIZES[kind]:
        raise KeyInvalidError(f"{path.name}: the key is malformed").at(str(path))
    return secret


def load_signing_key(path: Path) -> SigningKey:
    """The Ed25519 key of a file; raises KeyInvalidError."""
    return SigningKey(load_key(path, SIGNING))


def load_opening_key(path: Path) -> OpeningKey:
    """The HPKE key of a file; raises KeyInvalidError."""
    return OpeningKey(load_key(path, OPENING))


def load_secret(path: Path) -> bytes:
    """The 32 bytes of a symmetric key's file; raises KeyInvalidError."""
    return load_key(path, SECRET)
