"""Who a door speaks for: a token is one person, and nobody is guessed.

Tokens are random and kept as digests, a file each under `tokens/`, so that whoever reads them is let in by none.
"""

import hashlib
import secrets
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from proxid.errors import InputError
from proxid.regular import regular_text
from proxid.runtime.provision.keyfile import write_private

_FOLDER: Final = "tokens"
_BYTES: Final = 32


class Tokens:
    """The tokens of a household, in its data folder.

    Args:
        folder: `data_dir`. users: who is enrolled; a token of somebody who is no more is nobody's.
    """

    def __init__(self, folder: Path, users: Collection[str]) -> None:
        self._folder, self._users = folder / _FOLDER, users

    def make(self, user: str) -> str:
        """A new token for a person; shown once, since it is not kept.

        Raises:
            InputError: nobody of that name is enrolled here. OutputError: it cannot be stored.
        """
        if user not in self._users:
            raise InputError("nobody of that name is enrolled in this household")
        token = secrets.token_urlsafe(_BYTES)
        with suppress(OSError):  # then the file cannot be created either, which says so
            self._folder.mkdir(mode=0o700, exist_ok=True)
        write_private(self._file(token), user.encode())
        return token

    def revoke(self, user: str) -> int:
        """Take back all of a person's tokens; how many there were."""
        theirs = [path for path in self._folder.glob("*") if _read(path) == user]
        for path in theirs:
            path.unlink(missing_ok=True)
        return len(theirs)

    def of(self, token: str) -> str | None:
        """The person of a token; None for one that is nobody's."""
        user = _read(self._file(token))
        return user if user in self._users else None

    def _file(self, token: str) -> Path:
        # Found by its digest: how long that takes says nothing of the token.
        return self._folder / hashlib.sha256(token.encode()).hexdigest()


def _read(path: Path) -> str | None:
    try:
        return regular_text(path)
    except (OSError, UnicodeDecodeError):
        return None
