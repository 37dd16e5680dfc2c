"""What an audit leaves for the next one (DESIGN 10.4): heads, sets, replays; sealed, and without erased people.

    state      everything but the sets, encrypted under a key of the auditor's own opening key
    sets.db    the sets of check 7, and what replays remember: pseudonymous ids and keyed hashes only

Neither holds an evidence key or a chain key. Both are replaced together, after an audit has gone through.
"""

import hashlib
import hmac
import os
import pickle
import shutil
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from proxid.crypto.hpke import OpeningKey
from proxid.encoding import label
from proxid.errors import AuditStateError, OutputError

VERSION: Final = 3
STATE: Final = "state"
SETS: Final = "sets.db"

_KEY: Final = label("audit-state")
_NONCE: Final = 12
_ANEW: Final = "audit anew with --fresh"


class AuditState:
    """A folder of the auditor.

    Args:
        folder: created if absent. opening: the auditor's key.
    """

    def __init__(self, folder: Path, opening: OpeningKey) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            raise OutputError(f"{folder}: the auditor's folder cannot be made") from None
        self._folder = folder
        self._key = hmac.digest(opening.seed, _KEY, "sha256")
        self.working = folder / "sets.next.db"

    def load(self) -> dict[str, Any] | None:
        """The state of the last audit, whose sets are copied to `working`; None at the first.

        Raises:
            AuditStateError: the state is damaged, in part missing, or another auditor's.
        """
        self._clear()
        path, sets = self._folder / STATE, self._folder / SETS
        if not path.exists():
            if sets.exists():
                # Without its state an audit would start over, and forget what was found before.
                raise AuditStateError(f"{path}: file is missing; {_ANEW}")
            return None
        # What opens under the auditor's own key was written by the auditor itself.
        state: dict[str, Any] = pickle.loads(self._open(path))  # noqa: S301
        if state["version"] != VERSION:
            raise AuditStateError(f"{path}: written by another version of proxid; {_ANEW}")
        if not sets.exists():
            raise AuditStateError(f"{sets}: file is missing; {_ANEW}")
        if state["sets"] != _digest(sets):
            raise AuditStateError(f"{sets}: damaged, or of another audit than {STATE}; {_ANEW}")
        shutil.copyfile(sets, self.working)
        return state

    def _open(self, path: Path) -> bytes:
        try:
            data = path.read_bytes()
            return ChaCha20Poly1305(self._key).decrypt(data[:_NONCE], data[_NONCE:], _KEY)
        except OSError:
            raise AuditStateError(f"{path}: cannot be read; {_ANEW}") from None
        except (InvalidTag, ValueError):
            raise AuditStateError(f"{path}: damaged, or written under another opening_key; {_ANEW}") from None

    def reset(self) -> None:
        """Forget the last audit."""
        for name in (STATE, SETS):
            (self._folder / name).unlink(missing_ok=True)

    def _clear(self) -> None:
        for path in self._folder.glob("sets.next.db*"):
            path.unlink()

    def save(self, state: dict[str, Any]) -> None:
        """Replace the state by this one and the sets in `working`; raises OutputError."""
        try:
            state = {**state, "version": VERSION, "sets": _digest(self.working)}
            nonce = os.urandom(_NONCE)
            plain = pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)
            temporary = self._folder / "state.next"
            temporary.write_bytes(nonce + ChaCha20Poly1305(self._key).encrypt(nonce, plain, _KEY))
            temporary.chmod(0o600)
            self.working.replace(self._folder / SETS)
            temporary.replace(self._folder / STATE)
        except OSError:
            raise OutputError(f"{self._folder}: the state of this audit cannot be written") from None


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
