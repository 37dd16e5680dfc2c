"""What somebody asked, kept at home if they want it (DESIGN 5.6): `asked` in their folder, a sealed line a question.

The key follows from the person's own, so that a line opens in this household alone, for this person alone. There is a
file while they want one; whoever stops, or is erased, has none.
"""

import base64
import hmac
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from proxid.crypto.ed25519 import SigningKey
from proxid.encoding import label
from proxid.errors import MALFORMED, InputError, OutputError
from proxid.jsontext import load_json
from proxid.regular import regular_bytes
from proxid.runtime.provision.keyfile import replace_private, write_private
from proxid.runtime.whole import append_whole

_KEY: Final = label("own-history")
_NONCE: Final = 12


@dataclass(frozen=True, slots=True, repr=False)
class Asked:
    """A question: Unix seconds, and its text.

    Attributes:
        session: its request hash. opening: the signed request and what opens its commitment (`protocol.opened`), to be
            presented if its person wants that. Empty in lines from before.
    """

    time: int
    text: str
    session: bytes = b""
    opening: bytes = b""


class OwnHistory:
    """One person's.

    Args:
        folder: the person's. key: the person's. random: source of nonces.
    """

    def __init__(self, folder: Path, key: SigningKey, random: Callable[[int], bytes] = os.urandom) -> None:
        self._path = folder / "asked"
        self._cipher = ChaCha20Poly1305(hmac.digest(key.seed, _KEY, "sha256"))
        self._random = random

    @property
    def kept(self) -> bool:
        """Whether the person wants it."""
        return self._path.exists()

    def start(self) -> None:
        """Keep what is asked from now on; raises OutputError."""
        write_private(self._path, b"")

    def stop(self) -> None:
        """Keep nothing more, and forget what was kept; raises OutputError."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError:
            raise OutputError("the own history cannot be deleted").at(str(self._path)) from None

    def reseal(self, key: SigningKey) -> None:
        """Seal all of it for another key of the person's; what does not open stays as it is.

        Raises InputError, OutputError.
        """
        if not self.kept:
            return
        cipher = ChaCha20Poly1305(hmac.digest(key.seed, _KEY, "sha256"))
        try:
            kept = regular_bytes(self._path).split(b"\n")
        except OSError:
            raise InputError("the own history cannot be read").at(str(self._path)) from None
        lines = []
        for line in kept:
            try:
                data = base64.b64decode(line, validate=True)
                said, nonce = self._cipher.decrypt(data[:_NONCE], data[_NONCE:], _KEY), self._random(_NONCE)
                lines.append(base64.b64encode(nonce + cipher.encrypt(nonce, said, _KEY)))
            except (ValueError, InvalidTag):
                lines.append(line)
        replace_private(self._path, b"\n".join(lines))

    def add(self, time: float, text: str, session: bytes = b"", opening: bytes = b"") -> None:
        """Keep a question (see `Asked`), if the person wants that; raises OutputError."""
        if not self.kept:
            return
        nonce = self._random(_NONCE)
        line = [int(time), text, session.hex(), base64.b64encode(opening).decode("ascii")]
        sealed = self._cipher.encrypt(nonce, json.dumps(line).encode(), _KEY)
        try:
            descriptor = os.open(self._path, os.O_APPEND | os.O_RDWR)
            try:
                end = os.fstat(descriptor).st_size
                torn = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n"  # by a power cut: it would take this along
                append_whole(descriptor, b"\n" * torn + base64.b64encode(nonce + sealed) + b"\n")
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            return  # stopped meanwhile
        except OSError:
            raise OutputError("the own history cannot be written").at(str(self._path)) from None

    def asked(self) -> Iterator[Asked]:
        """What was kept, newest first; lines that do not open (torn by a crash, another key's) are passed over."""
        try:
            lines = regular_bytes(self._path).split(b"\n")
        except OSError:
            return
        for line in reversed(lines):
            try:
                data = base64.b64decode(line, validate=True)
                time, text, *kept = load_json(self._cipher.decrypt(data[:_NONCE], data[_NONCE:], _KEY))
                session, opening = kept or ("", "")
                yield Asked(int(time), str(text), bytes.fromhex(session), base64.b64decode(opening))
            except (InvalidTag, *MALFORMED):
                continue
