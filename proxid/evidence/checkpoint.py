"""Checkpoints (C2SP tlog-checkpoint) and witnesses' cosignatures (C2SP tlog-cosignature v1).

    origin ⏎ size ⏎ base64(root) ⏎          signed as a note by the log's own key, whose name is the origin

A cosignature signs "cosignature/v1 ⏎ time T ⏎" and the checkpoint: the witness saw this head at T, and found it
consistent with every earlier head of this origin that it has cosigned.
"""

import base64
import struct
from dataclasses import dataclass
from typing import Final

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SIGNATURE_SIZE, SigningKey
from proxid.errors import NoteInvalidError, SignatureInvalidError
from proxid.evidence.merkle import HASH_SIZE
from proxid.evidence.note import COSIGNATURE_V1, Note, NoteSignature, Verifier, key_id, verify_name

WITNESS: Final = "witness"
"""The name of the witness's key."""

_TIME = struct.Struct(">Q")


def origin(service: str, log: str, generation: int = 1) -> str:
    """The origin of a service's log: `log` is `gateway` or `main-service`, `service` the Main Service's id.

    Args:
        generation: 1 of the first log, and one more of each successor.
    """
    first = f"proxid/{service}/{log}"
    return first if generation == 1 else f"{first}/{generation}"


def generation_of(name: str, first: str) -> int:
    """Which successor of a first log an origin is of: 1 of that log itself, 0 if it is of another."""
    if name == first:
        return 1
    number = name.removeprefix(f"{first}/")
    known = name.startswith(f"{first}/") and number.isascii() and number.isdigit() and number[0] != "0"
    return int(number) if known and int(number[:9]) > 1 and len(number) < 9 else 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of a log: origin, number of leaves, root of the tree (32 bytes)."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """What is signed."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    @classmethod
    def parse(cls, text: str) -> "Checkpoint":
        """The checkpoint of a note's text; raises NoteInvalidError unless it re-encodes to the same text."""
        rows = text.split("\n")
        if len(rows) != 4 or not rows[1].isascii() or not rows[1].isdigit():
            raise NoteInvalidError("checkpoint is malformed")
        try:
            root = base64.b64decode(rows[2].encode("ascii"), validate=True)
        except ValueError:
            raise NoteInvalidError("checkpoint's root is malformed") from None
        found = cls(rows[0], int(rows[1]), root)
        if len(root) != HASH_SIZE or found.text != text:
            raise NoteInvalidError("checkpoint does not re-encode to itself")
        verify_name(found.origin)
        return found

    def sign(self, key: SigningKey) -> Note:
        """The signed checkpoint; the key's name is the origin."""
        return Note(self.text, ()).signed(self.origin, key)


def open_checkpoint(data: bytes, log: Verifier) -> tuple[Checkpoint, Note]:
    """A checkpoint that the log signed; raises NoteInvalidError."""
    note = Note.decode(data)
    checkpoint = Checkpoint.parse(note.text)
    if checkpoint.origin != log.name:
        raise NoteInvalidError("checkpoint is of another log")
    note.verify(log)
    return checkpoint, note


def witness(name: str, key: bytes) -> Verifier:
    """The verifier of a witness."""
    return Verifier(name, key, COSIGNATURE_V1)


def _cosigned(text: str, seconds: int) -> bytes:
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def cosign(note: Note, name: str, key: SigningKey, seconds: int) -> NoteSignature:
    """A witness's signature line over a checkpoint, at a Unix time."""
    verify_name(name)
    signature = key.sign(_cosigned(note.text, seconds))
    return NoteSignature(name, key_id(name, COSIGNATURE_V1, key.public), _TIME.pack(seconds) + signature)


def verify_cosignature(note: Note, verifier: Verifier) -> int:
    """The Unix time at which a witness cosigned; raises NoteInvalidError, KeyInvalidError."""
    if verifier.kind != COSIGNATURE_V1:
        raise NoteInvalidError("verifier is of another signature type")
    line = note.by(verifier)
    if len(line.signature) != _TIME.size + SIGNATURE_SIZE:
        raise NoteInvalidError("cosignature has the wrong size")
    (seconds,) = _TIME.unpack_from(line.signature)
    try:
        ed25519.verify(verifier.key, _cosigned(note.text, seconds), line.signature[_TIME.size :])
    except SignatureInvalidError:
        raise NoteInvalidError("cosignature does not hold") from None
    return int(seconds)


def with_cosignature(note: Note, line: NoteSignature) -> Note:
    """The note with a witness's newest line in the place of its older one."""
    kept = tuple(s for s in note.signatures if (s.name, s.key_id) != (line.name, line.key_id))
    return Note(note.text, (*kept, line))
