"""The witness (DESIGN 10.4 (1)): cosigns heads of both logs, and never one that contradicts what it cosigned before.

It keeps the newest head of each log that it has cosigned, durably, before it hands a signature out: whoever restarts
it, or restores it from nothing but this folder, cannot make it cosign two histories.
"""

import hashlib
import os
from pathlib import Path
from typing import Protocol

from auditor.source import Heads
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import (
    EvidenceUnreadableError,
    HistoryForkedError,
    InputError,
    NoteInvalidError,
    OutputError,
    ProxidError,
)
from proxid.evidence.checkpoint import Checkpoint, cosign, open_checkpoint, with_cosignature
from proxid.evidence.merkle import EMPTY_ROOT, verify_consistency
from proxid.evidence.note import Verifier


class WitnessedLog(Protocol):
    """What a witness needs of a log, as `auditor.client.RemoteLog` has it."""

    def heads(self) -> Heads:
        """The log's heads."""
        ...

    def consistency(self, old: int, size: int) -> list[bytes]:
        """A consistency proof."""
        ...

    def cosign(self, note: bytes) -> None:
        """Hand in a cosigned head."""
        ...


class Witness:
    """Cosigns one log's heads.

    Args:
        folder: of its memory. name, key: its own. log: whose heads.
    """

    def __init__(self, folder: Path, name: str, key: SigningKey, log: Verifier) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / f"{hashlib.sha256(log.name.encode()).hexdigest()[:16]}.head"
        self._name = name
        self._key = key
        self._log = log

    @property
    def last(self) -> Checkpoint:
        """The newest head it has cosigned; the empty log's before the first. Raises InputError if that is damaged."""
        if not self._path.exists():
            return Checkpoint(self._log.name, 0, EMPTY_ROOT)
        try:
            return open_checkpoint(self._path.read_bytes(), self._log)[0]
        except (OSError, NoteInvalidError):
            # Without its memory it could be made to cosign another history.
            raise InputError(f"{self._path}: the witness's memory is damaged, or of a log under another key") from None

    def cosign(self, source: WitnessedLog, seconds: int) -> Checkpoint:
        """Cosign the log's newest head at a Unix time and hand it in; the head.

        Raises:
            HistoryForkedError: the head is not a continuation of what was cosigned before: nothing is signed.
            NoteInvalidError: not the log's head. EvidenceUnreadableError: the log is away.
        """
        last = self.last
        head, note = open_checkpoint(source.heads().latest, self._log)
        self._verify(source, last, head)
        cosigned = with_cosignature(note, cosign(note, self._name, self._key, seconds)).encode()
        self._remember(cosigned)
        source.cosign(cosigned)
        return head

    def _verify(self, source: WitnessedLog, last: Checkpoint, head: Checkpoint) -> None:
        if head.size < last.size:
            raise HistoryForkedError("head is of a shorter history than one that was cosigned")
        try:
            proof = source.consistency(last.size, head.size) if 0 < last.size < head.size else []
            verify_consistency(last.size, last.root, head.size, head.root, proof)
        except EvidenceUnreadableError:
            raise  # a service that is away has shown nothing
        except ProxidError:
            raise HistoryForkedError("head is of another history than one that was cosigned") from None

    def _remember(self, note: bytes) -> None:
        temporary = self._path.with_suffix(".next")
        try:
            with temporary.open("wb") as file:
                file.write(note)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path)
        except OSError:
            raise OutputError("the witness cannot write its memory") from None
