"""Proof bundles (C2SP tlog-proof): that one leaf is in a log, verified offline from the bundle alone.

c2sp.org/tlog-proof@v1
extra BASE64                (what else a verifier needs; optional)
index N
BASE64                      (one hash of the inclusion proof a line)
⏎
the checkpoint, a signed note
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from proxid.errors import NoteInvalidError
from proxid.evidence.checkpoint import Checkpoint, open_checkpoint, verify_cosignature
from proxid.evidence.merkle import HASH_SIZE, verify_inclusion
from proxid.evidence.note import Note, Verifier

FIRST_LINE: Final = "c2sp.org/tlog-proof@v1"
MAX_HASHES: Final = 64


@dataclass(frozen=True, slots=True)
class ProofBundle:
    """An inclusion proof with the checkpoint that it leads to.

    Attributes:
        index: of the leaf, from 0. hashes: the proof, from the leaf up. note: the signed checkpoint.
        extra: opaque bytes for the verifier; here the leaf's salt and header.
    """

    index: int
    hashes: tuple[bytes, ...]
    note: Note
    extra: bytes = b""

    def encode(self) -> bytes:
        """The bundle as text."""
        rows = [FIRST_LINE]
        if self.extra:
            rows.append(f"extra {base64.b64encode(self.extra).decode()}")
        rows.append(f"index {self.index}")
        rows += [base64.b64encode(h).decode() for h in self.hashes]
        return ("\n".join(rows) + "\n\n").encode() + self.note.encode()

    @classmethod
    def decode(cls, data: bytes) -> "ProofBundle":
        """The bundle of its text; raises NoteInvalidError unless it re-encodes to itself."""
        head, blank, note = data.partition(b"\n\n")
        try:
            rows = head.decode("ascii").split("\n")
        except UnicodeDecodeError:
            raise NoteInvalidError("proof bundle is not ASCII") from None
        if not blank or rows[0] != FIRST_LINE:
            raise NoteInvalidError("not a proof bundle")
        bundle = _parse(rows[1:], Note.decode(note))
        if bundle.encode() != data:
            raise NoteInvalidError("proof bundle does not re-encode to itself")
        return bundle

    def verify(self, leaf: bytes, log: Verifier, witnesses: Sequence[Verifier] = ()) -> Checkpoint:
        """That the leaf is in the log, whose checkpoint these witnesses have cosigned; the checkpoint.

        Raises:
            NoteInvalidError: not the log's checkpoint, or not cosigned. TreeProofError: the leaf is not in it.
        """
        checkpoint, note = open_checkpoint(self.note.encode(), log)
        for verifier in witnesses:
            verify_cosignature(note, verifier)
        verify_inclusion(leaf, self.index, checkpoint.size, self.hashes, checkpoint.root)
        return checkpoint


def _parse(rows: list[str], note: Note) -> ProofBundle:
    try:
        extra = b""
        if rows and rows[0].startswith("extra "):
            extra = base64.b64decode(rows.pop(0)[6:], validate=True)
        if not rows or not rows[0].startswith("index "):
            raise NoteInvalidError("proof bundle has no index")
        index = int(rows[0][6:])
        hashes = tuple(base64.b64decode(row, validate=True) for row in rows[1:])
    except (ValueError, binascii.Error):
        raise NoteInvalidError("proof bundle is malformed") from None
    if len(hashes) > MAX_HASHES or any(len(h) != HASH_SIZE for h in hashes):
        raise NoteInvalidError("proof bundle holds something that is no hash")
    return ProofBundle(index, hashes, note, extra)
