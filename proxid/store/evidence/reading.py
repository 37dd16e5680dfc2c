"""What every worker serves of an evidence log: its signed heads, leaves below them, proofs (DESIGN 10.2)."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from proxid.errors import LogDamagedError, NoteInvalidError, TreeProofError
from proxid.evidence.checkpoint import Checkpoint, open_checkpoint, verify_cosignature
from proxid.evidence.leaf import Leaf
from proxid.evidence.merkle import consistency_proof, inclusion_proof
from proxid.evidence.note import Note, Verifier
from proxid.store.evidence.files import replace_file
from proxid.store.evidence.log import CHECKPOINT, COSIGNED, SEGMENTS, TREE
from proxid.store.evidence.segments import read_leaves
from proxid.store.evidence.tree import TreeReader


class LogReader:
    """The reading end; it needs nothing but the folder.

    Args:
        folder: the log's. log: the service's verifier. witnesses: whose cosignatures are taken.
    """

    def __init__(self, folder: Path, log: Verifier, witnesses: tuple[Verifier, ...] = ()) -> None:
        self._folder = folder
        self._log = log
        self._witnesses = witnesses
        self._node = TreeReader(folder / TREE)

    def checkpoint(self) -> bytes:
        """The newest signed head; raises LogDamagedError if there is none yet."""
        try:
            return (self._folder / CHECKPOINT).read_bytes()
        except OSError:
            raise LogDamagedError("the log has no signed head yet") from None

    def head(self) -> Checkpoint:
        """The newest signed head, parsed."""
        return open_checkpoint(self.checkpoint(), self._log)[0]

    def cosigned(self) -> list[bytes]:
        """For each witness the newest head that it cosigned."""
        folder = self._folder / COSIGNED
        return [p.read_bytes() for p in sorted(folder.iterdir()) if p.suffix == ".note"] if folder.exists() else []

    def leaves(self, first: int, limit: int = 0) -> Iterator[Leaf]:
        """Leaves from a number on, up to the signed head or `limit` of them."""
        end = self.head().size + 1
        if limit:
            end = min(end, first + limit)
        return read_leaves(self._folder / SEGMENTS, max(1, first), end)

    def consistency(self, old: int, size: int) -> list[bytes]:
        """Proof that the head of `old` leaves is the beginning of the one of `size`; raises TreeProofError."""
        self._verify_size(size)
        return consistency_proof(self._node, old, size)

    def inclusion(self, number: int, size: int) -> list[bytes]:
        """Proof that leaf `number` (from 1) is in the head of `size`; raises TreeProofError."""
        self._verify_size(size)
        return inclusion_proof(self._node, number - 1, size)

    def _verify_size(self, size: int) -> None:
        if size > self.head().size:
            raise TreeProofError("no head of this size is signed")

    def cosign(self, data: bytes) -> None:
        """Keep a head that a witness cosigned; raises NoteInvalidError unless this log signed it too."""
        note = open_checkpoint(data, self._log)[1]
        for verifier in self._witnesses:
            if self._is_by(note, verifier):
                folder = self._folder / COSIGNED
                folder.mkdir(mode=0o700, exist_ok=True)
                name = hashlib.sha256(verifier.name.encode()).hexdigest()[:32]
                replace_file(folder / f"{name}.note", note.encode())
                return
        raise NoteInvalidError("head is not cosigned by a witness that is known here")

    @staticmethod
    def _is_by(note: Note, verifier: Verifier) -> bool:
        try:
            verify_cosignature(note, verifier)
        except NoteInvalidError:
            return False
        return True
