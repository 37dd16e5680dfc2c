"""What an audit leaves for the next one (DESIGN 10.4): heads, sets, replays; sealed, and without erased people.

    state         everything but the sets, as JSON (version, SHA-256 of the sets, `saved.Saved`) that is
                  encrypted under a key of the auditor's own opening key
    sets.HEX.db   the sets of check 7, and what replays remember: pseudonymous ids and keyed hashes only; HEX begins
                  the SHA-256 of the file, and `state` names it
    lock          held while an audit runs: one at a time

Neither holds an evidence key or a chain key. Both are replaced together, by the one renaming of `state`, after an audit
has gone through: killed at any moment, it leaves the state of the last audit or its own.
"""

import fcntl
import hashlib
import hmac
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from auditor.plain import dumps, loads
from auditor.saved import Saved
from proxid.crypto.hpke import OpeningKey
from proxid.encoding import label
from proxid.errors import AuditBusyError, AuditStateError, OutputError
from proxid.regular import open_regular, regular_bytes

VERSION: Final = 53
STATE: Final = "state"
_SETS: Final = "sets.*.db"
_WORKING: Final = "sets-next.db"
_NAME: Final = 16

_File = tuple[int, str, Saved]
_KEY: Final = label("audit-state")
_NONCE: Final = 12
_ANEW: Final = "audit anew with --fresh"


class AuditState:
    """A folder of the auditor.

    Args:
        folder: created if absent. opening: the auditor's key; what was written under one before it is read, too.

    Raises:
        AuditBusyError: another audit uses the folder. OutputError: it cannot be made.
    """

    def __init__(self, folder: Path, opening: OpeningKey) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            raise OutputError(f"{folder}: the auditor's folder cannot be made") from None
        self._folder = folder
        self._lock = self._locked()
        self._key, *self._older = (hmac.digest(key.seed, _KEY, "sha256") for key in (opening, *opening.before))
        self.working = folder / _WORKING

    def _locked(self) -> TextIO:
        """The open file that holds the lock; it goes with this object, or with the process."""
        try:
            file = (self._folder / "lock").open("a+")
        except OSError:
            raise OutputError(f"{self._folder}: the auditor's folder cannot be written") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise AuditBusyError(f"{self._folder}: another audit goes on from this state") from None
        return file

    def load(self) -> Saved | None:
        """The state of the last audit, whose sets are copied to `working`; None at the first.

        Raises:
            AuditStateError: the state is damaged, in part missing, or another auditor's.
        """
        self._clear()
        path = self._folder / STATE
        if not path.exists():
            if any(self._folder.glob(_SETS)):
                # Without its state an audit would start over, and forget what was found before.
                raise AuditStateError(f"{path}: file is missing; {_ANEW}")
            return None
        digest, saved = _read(self._open(path), path)
        sets = self._sets(digest)
        if not sets.exists():
            raise AuditStateError(f"{sets}: file is missing; {_ANEW}")
        try:
            known = _digest(sets)
        except OSError:
            raise AuditStateError(f"{sets}: cannot be read; {_ANEW}") from None
        if digest != known:
            raise AuditStateError(f"{sets}: damaged, or of another audit than {STATE}; {_ANEW}")
        shutil.copyfile(sets, self.working)
        return saved

    def _open(self, path: Path) -> bytes:
        try:
            data = regular_bytes(path)
        except OSError:
            raise AuditStateError(f"{path}: cannot be read; {_ANEW}") from None
        for key in (self._key, *self._older):
            with suppress(InvalidTag, ValueError):
                return ChaCha20Poly1305(key).decrypt(data[:_NONCE], data[_NONCE:], _KEY)
        raise AuditStateError(f"{path}: damaged, or written under another opening_key; {_ANEW}")

    def reset(self) -> None:
        """Forget the last audit."""
        for path in (self._folder / STATE, *self._folder.glob("sets*.db")):
            path.unlink(missing_ok=True)

    def _sets(self, digest: str) -> Path:
        return self._folder / f"sets.{digest[:_NAME]}.db"

    def _clear(self) -> None:
        for path in self._folder.glob(f"{_WORKING}*"):
            path.unlink()

    def save(self, saved: Saved) -> None:
        """Replace the state by this one and the sets in `working`, and let others at it; raises OutputError."""
        try:
            digest = _digest(self.working)
            nonce = os.urandom(_NONCE)
            plain = dumps(_File, (VERSION, digest, saved))
            temporary = self._folder / "state.next"
            temporary.write_bytes(nonce + ChaCha20Poly1305(self._key).encrypt(nonce, plain, _KEY))
            temporary.chmod(0o600)
            self.working.replace(self._sets(digest))
            temporary.replace(self._folder / STATE)
            for path in self._folder.glob(_SETS):
                if path != self._sets(digest):
                    path.unlink()
        except OSError:
            raise OutputError(f"{self._folder}: the state of this audit cannot be written") from None
        self.close()

    def close(self) -> None:
        """Let others at it."""
        self._lock.close()


def _read(plain: bytes, path: Path) -> tuple[str, Saved]:
    """Digest of the sets, and the audit; raises AuditStateError for what another version wrote, in whatever form."""
    try:
        version, digest, saved = loads(_File, plain)
    except ValueError:
        version = None
    if version != VERSION:
        raise AuditStateError(f"{path}: written by another version of proxid; {_ANEW}")
    return digest, saved


def _digest(path: Path) -> str:
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
