"""One-time codes: whoever holds the household's configuration lets one person in, for a few minutes.

Kept as digests, a file each under `codes/`, since the command that makes one is another process than the agent.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from proxid.errors import MALFORMED, InputError
from proxid.jsontext import load_json
from proxid.regular import regular_text
from proxid.runtime.provision.keyfile import write_private

MINUTES: Final = 10
_SIGNS: Final = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""Without those that look alike."""
_LENGTH: Final = 16
_GROUP: Final = 4


class Codes:
    """The codes of a household.

    Args:
        folder: `data_dir`. users: who is enrolled. clock: Unix seconds.
    """

    def __init__(self, folder: Path, users: Collection[str], clock: Callable[[], float] = time.time) -> None:
        self._folder, self._users, self._clock = folder / "codes", users, clock

    def make(self, user: str) -> str:
        """A code for a person, shown once; raises InputError for nobody of the household, OutputError."""
        if user not in self._users:
            raise InputError("nobody of that name is enrolled in this household")
        with suppress(OSError):  # then the file cannot be created either, which says so
            self._folder.mkdir(mode=0o700, exist_ok=True)
        for path in self._files():
            if self._whose(path) is None:
                path.unlink(missing_ok=True)
        code = "".join(secrets.choice(_SIGNS) for _ in range(_LENGTH))
        ends = int(self._clock()) + 60 * MINUTES
        write_private(self._file(code), json.dumps({"user": user, "ends": ends}).encode())
        return "-".join(code[at : at + _GROUP] for at in range(0, _LENGTH, _GROUP))

    def forget(self) -> None:
        """None is good any more: who typed one while the agent was away told it to whoever had its port meanwhile."""
        for path in self._files():
            path.unlink(missing_ok=True)

    def take(self, code: str) -> str | None:
        """The person of a code, which is good no more; None for one that is nobody's, used or over."""
        path = self._file("".join(sign for sign in code.upper() if sign in _SIGNS))
        user = self._whose(path)
        try:
            path.unlink()
        except OSError:
            return None  # somebody else was quicker
        return user

    def _files(self) -> list[Path]:
        return [path for path in self._folder.glob("*") if not path.is_dir()]

    def _whose(self, path: Path) -> str | None:
        try:
            said = load_json(regular_text(path))
            user, ends = str(said["user"]), float(said["ends"])
        except (OSError, *MALFORMED):
            return None
        return user if user in self._users and self._clock() < ends else None

    def _file(self, code: str) -> Path:
        return self._folder / hashlib.sha256(code.encode()).hexdigest()
