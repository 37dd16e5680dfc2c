"""The witness (DESIGN 10.4 (1)): cosigns heads of both logs, and never one that contradicts what it cosigned before.

It keeps the newest head of each log that it has cosigned, durably, before it hands a signature out: whoever restarts
it, or restores it from nothing but this folder, cannot make it cosign two histories. It keeps one head a day for good.
A successor log is cosigned if it names, in its first leaf, a head of the log before it that covers what was cosigned
of that one.
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from auditor.reading.belongs import shown_head
from auditor.reading.source import Heads
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import (
    EvidenceLostError,
    EvidenceUnreadableError,
    HistoryForkedError,
    InputError,
    NoteInvalidError,
    OutputError,
    ProxidError,
)
from proxid.evidence.checkpoint import Checkpoint, cosign, generation_of, open_checkpoint, with_cosignature
from proxid.evidence.merkle import EMPTY_ROOT, verify_consistency, verify_inclusion
from proxid.evidence.note import Verifier
from proxid.evidence.succession import Succession
from proxid.regular import regular_bytes
from proxid.runtime.evidence_log.files import archive


class WitnessedLog(Protocol):
    """What a witness needs of a log, as `auditor.reading.remote.RemoteLog` has it."""

    def heads(self) -> Heads:
        """The log's heads."""
        ...

    def consistency(self, old: int, size: int) -> list[bytes]:
        """A consistency proof."""
        ...

    def inclusion(self, number: int, size: int) -> list[bytes]:
        """An inclusion proof."""
        ...

    def log(self, generation: int) -> "WitnessedLog":
        """Another log of the same service."""
        ...

    def cosign(self, note: bytes) -> None:
        """Hand in a cosigned head."""
        ...

    def show(self, heads: Sequence[bytes]) -> None:
        """Show heads of either service's log."""
        ...


class Witness:
    """Cosigns the heads of one service's log and of its successors.

    Args:
        folder: of its memory. name, key: its own. log: the first log.
    """

    def __init__(self, folder: Path, name: str, key: SigningKey, log: Verifier) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._name = name
        self._key = key
        self._log = log

    def _verifier(self, generation: int) -> Verifier:
        return Verifier(self._log.name if generation == 1 else f"{self._log.name}/{generation}", self._log.key)

    def _path(self, generation: int) -> Path:
        name = self._verifier(generation).name
        return self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.head"

    def last(self, generation: int = 1) -> Checkpoint:
        """The newest head it has cosigned of one log; the empty log's before the first.

        Raises:
            InputError: its memory is damaged.
        """
        path, log = self._path(generation), self._verifier(generation)
        if not path.exists():
            return Checkpoint(log.name, 0, EMPTY_ROOT)
        try:
            return open_checkpoint(regular_bytes(path), log)[0]
        except (OSError, NoteInvalidError):
            # Without its memory it could be made to cosign another history.
            raise InputError(f"{path}: the witness's memory is damaged, or of a log under another key") from None

    def memory(self) -> list[bytes]:
        """The newest head of each log that it has cosigned."""
        generation, notes = 1, []
        while self._path(generation).exists():
            notes.append(regular_bytes(self._path(generation)))
            generation += 1
        return notes

    def cosign(self, source: WitnessedLog, seconds: int) -> Checkpoint:
        """Cosign the log's newest head at a Unix time and hand it in; the head.

        Raises:
            HistoryForkedError: the head is not a continuation of what was cosigned before: nothing is signed.
            NoteInvalidError: not the log's head. EvidenceUnreadableError: the log is away.
        """
        heads = source.heads()
        generation = generation_of(shown_head(heads.latest, self._log.name)[1].origin, self._log.name) or 1
        head, note = open_checkpoint(heads.latest, self._verifier(generation))
        if self._path(generation + 1).exists():
            raise HistoryForkedError("head is of an older log than one that was cosigned")
        if generation > 1 and not self._path(generation).exists():
            self._verify_follows(source, generation, heads, head)
        self._verify(source, self.last(generation), head)
        cosigned = with_cosignature(note, cosign(note, self._name, self._key, seconds)).encode()
        self._remember(self._path(generation), cosigned, seconds)
        source.cosign(cosigned)
        return head

    def _verify_follows(self, source: WitnessedLog, generation: int, heads: Heads, head: Checkpoint) -> None:
        """A successor that is new to the witness covers what was cosigned of the log before it."""
        if heads.first is None:
            raise EvidenceUnreadableError("the first entry of a successor log cannot be read")
        try:
            verify_inclusion(heads.first.hash, 0, head.size, source.inclusion(1, head.size), head.root)
            named, _ = open_checkpoint(Succession.of_leaf(heads.first).note, self._verifier(generation - 1))
        except EvidenceUnreadableError:
            raise
        except ProxidError:
            raise HistoryForkedError("a successor log names no head of the log before it") from None
        if named.size < self.last(generation - 1).size:
            raise HistoryForkedError("a successor log hides entries of the log before it that were cosigned")
        try:
            self._verify(source.log(generation - 1), self.last(generation - 1), named)
        except EvidenceLostError:
            return  # the old log is lost: what it signed last is all that there is

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

    @staticmethod
    def _remember(path: Path, note: bytes, seconds: int) -> None:
        temporary = path.with_suffix(".next")
        try:
            with temporary.open("wb") as file:
                file.write(note)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            archive(path.with_suffix(""), note, seconds)
        except OSError:
            raise OutputError("the witness cannot write its memory") from None
