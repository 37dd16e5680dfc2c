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
from proxid.errors import EvidenceUnreadableError

VERSION: Final = 2
STATE: Final = "state"
SETS: Final = "sets.db"

_KEY: Final = label("audit-state")
_NONCE: Final = 12


class AuditState:
    """A folder of the auditor.

    Args:
        folder: created if absent. opening: the auditor's key.
    """

    def __init__(self, folder: Path, opening: OpeningKey) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._key = hmac.digest(opening.seed, _KEY, "sha256")
        self.working = folder / "sets.next.db"

    def load(self) -> dict[str, Any] | None:
        """The state of the last audit, whose sets are copied to `working`; None at the first.

        Raises:
            EvidenceUnreadableError: the state is damaged, or another auditor's.
        """
        self._clear()
        path = self._folder / STATE
        if not path.exists():
            return None
        data = path.read_bytes()
        try:
            plain = ChaCha20Poly1305(self._key).decrypt(data[:_NONCE], data[_NONCE:], _KEY)
        except InvalidTag:
            raise EvidenceUnreadableError("the state of the last audit is damaged") from None
        # What opens under the auditor's own key was written by the auditor itself.
        state: dict[str, Any] = pickle.loads(plain)  # noqa: S301
        if state["version"] != VERSION or state["sets"] != _digest(self._folder / SETS):
            raise EvidenceUnreadableError("the state of the last audit does not fit its sets; audit anew with --fresh")
        shutil.copyfile(self._folder / SETS, self.working)
        return state

    def reset(self) -> None:
        """Forget the last audit."""
        for name in (STATE, SETS):
            (self._folder / name).unlink(missing_ok=True)

    def _clear(self) -> None:
        for path in self._folder.glob("sets.next.db*"):
            path.unlink()

    def save(self, state: dict[str, Any]) -> None:
        """Replace the state by this one and the sets in `working`."""
        state = {**state, "version": VERSION, "sets": _digest(self.working)}
        nonce = os.urandom(_NONCE)
        plain = pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)
        temporary = self._folder / "state.next"
        temporary.write_bytes(nonce + ChaCha20Poly1305(self._key).encrypt(nonce, plain, _KEY))
        temporary.chmod(0o600)
        self.working.replace(self._folder / SETS)
        temporary.replace(self._folder / STATE)


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
