"""What every worker serves of an evidence log: its signed heads, leaves below them, proofs (DESIGN 10.2)."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from proxid.errors import LogDamagedError, LogFullError, NoteInvalidError, ProxidError, TreeProofError
from proxid.evidence.checkpoint import Checkpoint, open_checkpoint, verify_cosignature
from proxid.evidence.leaf import Leaf
from proxid.evidence.merkle import (
    EMPTY_ROOT,
    consistency_proof,
    inclusion_proof,
    range_hash,
    verify_consistency,
    verify_inclusion,
)
from proxid.evidence.note import Note, Verifier
from proxid.regular import regular_bytes
from proxid.runtime.evidence_log.files import archive
from proxid.runtime.evidence_log.generations import CHECKPOINT, COSIGNED
from proxid.runtime.evidence_log.log import SEGMENTS, TREE
from proxid.runtime.evidence_log.segments import read_leaves
from proxid.runtime.evidence_log.tree import TreeReader
from proxid.runtime.observability.metrics import set_cosigned
from proxid.runtime.whole import replace_whole


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
        """The newest signed head; raises LogDamagedError if there is none, or its file is damaged."""
        path = self._folder / CHECKPOINT
        try:
            data = regular_bytes(path)
            open_checkpoint(data, self._log)
        except FileNotFoundError:
            raise LogDamagedError("the log has no signed head yet") from None
        except (OSError, ValueError, ProxidError):
            raise LogDamagedError(
                f"{path}: is no head that this service signed; the next event writes it anew"
            ) from None
        return data

    @property
    def begun(self) -> bool:
        """Whether a head was ever signed here."""
        return (self._folder / CHECKPOINT).exists()

    def head(self) -> Checkpoint:
        """The newest signed head, parsed; raises LogDamagedError."""
        return open_checkpoint(self.checkpoint(), self._log)[0]

    def cosigned(self) -> list[bytes]:
        """For each witness the newest head that it cosigned; one whose file is damaged is left out."""
        folder = self._folder / COSIGNED
        notes = []
        for path in sorted(folder.glob("*.note")):
            with suppress(OSError):
                notes.append(regular_bytes(path))
        return [note for note in notes if self._is_cosigned(note)]

    def _is_cosigned(self, data: bytes) -> bool:
        try:
            note = open_checkpoint(data, self._log)[1]
        except (ValueError, ProxidError):
            return False
        return any(self._is_by(note, verifier) for verifier in self._witnesses)

    def leaves(self, first: int, limit: int = 0) -> Iterator[Leaf]:
        """Leaves from a number on, up to the signed head or `limit` of them; of damaged ones the hash.

        Raises:
            LogDamagedError: the stored tree is damaged too, so that the hash is not known.
        """
        end = self.head().size + 1
        if limit:
            end = min(end, first + limit)
        return read_leaves(self._folder / SEGMENTS, max(1, first), end, self._hash)

    def root(self, size: int) -> bytes:
        """The root over the first leaves; raises TreeProofError, LogDamagedError."""
        self._verify_size(size)
        if size:
            self._verify_tree(size)
        return range_hash(self._node, 0, size) if size else EMPTY_ROOT

    def first(self) -> Leaf | None:
        """The first leaf of a successor, if it is there and can be read."""
        if not self._log.name.rpartition("/")[2].isdigit():
            return None
        try:
            return next((leaf for leaf in self.leaves(1, 1) if not leaf.lost), None)
        except ProxidError:
            return None

    def _hash(self, number: int) -> bytes:
        """The hash of a leaf as the signed head covers it."""
        self.inclusion(number, self.head().size)
        return self._node(0, number - 1)

    def consistency(self, old: int, size: int) -> list[bytes]:
        """Proof that the head of `old` leaves is the beginning of the one of `size`.

        Raises:
            TreeProofError: there are no such heads. LogDamagedError: the stored tree is damaged.
        """
        self._verify_size(size)
        proof = consistency_proof(self._node, old, size)
        self._verify_tree(size)
        with self._own():
            verify_consistency(old, range_hash(self._node, 0, old), size, range_hash(self._node, 0, size), proof)
        return proof

    def inclusion(self, number: int, size: int) -> list[bytes]:
        """Proof that leaf `number` (from 1) is in the head of `size`; raises TreeProofError, LogDamagedError."""
        self._verify_size(size)
        proof = inclusion_proof(self._node, number - 1, size)
        self._verify_tree(size)
        with self._own():
            root = range_hash(self._node, 0, size)
            verify_inclusion(self._node(0, number - 1), number - 1, size, proof, root)
        return proof

    def _verify_tree(self, size: int) -> None:
        """What is shown is proven to ourselves first: a bit that rotted in the tree is no forked history."""
        head = self.head()
        with self._own():
            proof = consistency_proof(self._node, size, head.size)
            verify_consistency(size, range_hash(self._node, 0, size), head.size, head.root, proof)

    @contextmanager
    def _own(self) -> Iterator[None]:
        try:
            yield
        except TreeProofError:
            text = f"{self._folder / TREE}: the stored tree does not lead to the signed head; it is made anew soon"
            raise LogDamagedError(text) from None

    def _verify_size(self, size: int) -> None:
        if size > self.head().size:
            raise TreeProofError("no head of this size is signed")

    def cosign(self, data: bytes) -> None:
        """Keep a head that a witness cosigned.

        Raises:
            NoteInvalidError: this log did not sign it. LogFullError: its folder cannot be written.
        """
        note = open_checkpoint(data, self._log)[1]
        for verifier in self._witnesses:
            if self._is_by(note, verifier):
                try:
                    self._keep(note.encode(), verifier.name, at := verify_cosignature(note, verifier))
                except OSError:
                    raise LogFullError("the evidence folder cannot be written") from None
                set_cosigned(at)
                return
        raise NoteInvalidError("head is not cosigned by a witness that is known here")

    def _keep(self, note: bytes, witness: str, seconds: int) -> None:
        folder = self._folder / COSIGNED
        folder.mkdir(mode=0o700, exist_ok=True)
        name = hashlib.sha256(witness.encode()).hexdigest()[:32]
        replace_whole(folder / f"{name}.note", note)
        archive(folder / name, note, seconds)

    @staticmethod
    def _is_by(note: Note, verifier: Verifier) -> bool:
        try:
            verify_cosignature(note, verifier)
        except NoteInvalidError:
            return False
        return True
