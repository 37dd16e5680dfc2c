"""Receipts: what both services signed for this household, kept for the auditor (DESIGN 10.4 (9)).

One JSON object a line, appended and never changed: `kind` (`epoch`, `response`, `consent`, `rights`, `promise`),
`session` (the request hash, hexadecimal), `message` (the signed message, base64). They hold no plain text.
"""

import base64
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from proxid.crypto.sansig import SignedMessage
from proxid.errors import MALFORMED, InputError, OutputError, ProxidError
from proxid.jsontext import load_json
from proxid.regular import regular_bytes
from proxid.runtime.whole import append_whole


@dataclass(frozen=True, slots=True)
class Receipt:
    """One signed message that answers a session."""

    kind: str
    session: bytes
    message: SignedMessage


class ReceiptBook:
    """An append-only file of receipts."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, receipt: Receipt) -> None:
        """Append one; under a lock, so that lines of several writers do not mix. Raises OutputError."""
        self.add_bytes(receipt.kind, receipt.session, receipt.message.encode())

    def add_epoch(self, commitment: bytes, key: bytes) -> None:
        """Append the signed key of an epoch, unless it is the one that was appended last. Raises OutputError."""
        last = self._path.with_name("epoch.kept")
        try:
            if last.exists() and regular_bytes(last) == key:
                return
            self.add_bytes("epoch", commitment, key)
            last.write_bytes(key)
        except OSError:
            raise OutputError(f"{self._path.name}: receipts cannot be written").at(str(self._path)) from None

    def add_bytes(self, kind: str, session: bytes, message: bytes) -> None:
        """Append a receipt of whatever kind by its encoding. Raises OutputError."""
        encoded = base64.b64encode(message).decode("ascii")
        line = json.dumps({"kind": kind, "session": session.hex(), "message": encoded}) + "\n"
        try:
            descriptor = os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                append_whole(descriptor, line.encode("ascii"))
            finally:
                os.close(descriptor)
        except OSError:
            raise OutputError(f"{self._path.name}: receipts cannot be written").at(str(self._path)) from None


def read_receipts(path: Path) -> Iterator[Receipt]:
    """The signed messages of a file; raises InputError naming the line. A torn last line, left by a crash, is skipped.

    Receipts of rights, keys of epochs and promises are no such messages: the auditor reads those.
    """
    try:
        lines = regular_bytes(path).split(b"\n")
    except OSError:
        raise InputError(f"{path.name}: receipts cannot be read").at(str(path)) from None
    for number, line in enumerate(lines[:-1], 1):
        try:
            data = load_json(line)
            if data["kind"] in ("rights", "epoch", "promise", "opening"):
                continue
            message = SignedMessage.decode(base64.b64decode(data["message"]))
            yield Receipt(str(data["kind"]), bytes.fromhex(data["session"]), message)
        except (ProxidError, *MALFORMED):
            raise InputError(f"{path.name}: line {number} is no receipt") from None
