"""Signed notes (C2SP signed-note): a text that ends in a newline, a blank line, and one line a signature.

    — NAME base64(key id ‖ signature)

Ed25519 signatures have type 0x01, witnesses' timestamped cosignatures type 0x04 (C2SP tlog-cosignature v1); the
key id is SHA256(NAME ‖ 0x0A ‖ type ‖ public key)[:4]. What parses re-encodes to the same bytes.
"""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Final

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import NoteInvalidError, SignatureInvalidError

ED25519: Final = 0x01
COSIGNATURE_V1: Final = 0x04
KEY_ID_SIZE: Final = 4
MAX_SIGNATURES: Final = 100
MAX_SIZE: Final = 1_000_000

_DASH: Final = "\u2014 "


def key_id(name: str, kind: int, key: bytes) -> bytes:
    """Four bytes that tell keys of one name apart; a hint, checked again by the signature."""
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + key).digest()[:KEY_ID_SIZE]


def verify_name(name: str) -> None:
    """Names of keys hold neither white space nor `+`; raises NoteInvalidError."""
    if not name or "+" in name or any(c.isspace() for c in name):
        raise NoteInvalidError("key name is malformed")


@dataclass(frozen=True, slots=True)
class Verifier:
    """A key that a note may be signed with: name, public key, 32 bytes, and type of signature."""

    name: str
    key: bytes
    kind: int = ED25519

    @property
    def id(self) -> bytes:
        """Its key id."""
        return key_id(self.name, self.kind, self.key)

    def encode(self) -> str:
        """`NAME+ID+base64(type ‖ key)`, as verifier keys are written down."""
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(bytes([self.kind]) + self.key).decode()}"

    @classmethod
    def decode(cls, text: str) -> "Verifier":
        """The verifier of its written form; raises NoteInvalidError."""
        name, _, rest = text.partition("+")
        identifier, plus, data = rest.partition("+")
        verify_name(name)
        raw = _base64(data)
        if not plus or len(raw) != 1 + ed25519.KEY_SIZE:
            raise NoteInvalidError("verifier key is malformed")
        verifier = cls(name, raw[1:], raw[0])
        if verifier.id.hex() != identifier:
            raise NoteInvalidError("verifier key has another key id")
        return verifier


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line: who, which key, and the bytes after the key id."""

    name: str
    key_id: bytes
    signature: bytes

    def encode(self) -> str:
        """The line with its newline."""
        return f"{_DASH}{self.name} {base64.b64encode(self.key_id + self.signature).decode()}\n"

    @classmethod
    def decode(cls, line: str) -> "NoteSignature":
        """The signature of a line without newline; raises NoteInvalidError."""
        name, space, data = line.removeprefix(_DASH).partition(" ")
        if not line.startswith(_DASH) or not space:
            raise NoteInvalidError("signature line is malformed")
        verify_name(name)
        raw = _base64(data)
        if len(raw) <= KEY_ID_SIZE:
            raise NoteInvalidError("signature line is truncated")
        return cls(name, raw[:KEY_ID_SIZE], raw[KEY_ID_SIZE:])


@dataclass(frozen=True, slots=True)
class Note:
    """A text and the signatures over it, in the order they were added."""

    text: str
    signatures: tuple[NoteSignature, ...]

    def encode(self) -> bytes:
        """Text, blank line, signature lines."""
        return f"{self.text}\n{''.join(s.encode() for s in self.signatures)}".encode()

    @classmethod
    def decode(cls, data: bytes) -> "Note":
        """The note of its bytes; raises NoteInvalidError."""
        whole = _text(data)
        text, blank, lines = whole.rpartition("\n\n")
        text += "\n"
        rows = lines.split("\n")
        if not blank or rows[-1] != "" or not 1 < len(rows) <= MAX_SIGNATURES + 1:
            raise NoteInvalidError("note has no signatures, or too many")
        note = cls(text, tuple(NoteSignature.decode(row) for row in rows[:-1]))
        if note.encode() != data:
            raise NoteInvalidError("note does not re-encode to itself")
        return note

    def signed(self, name: str, key: SigningKey) -> "Note":
        """The note with one more Ed25519 signature."""
        verify_name(name)
        signature = NoteSignature(name, key_id(name, ED25519, key.public), key.sign(self.text.encode()))
        return Note(self.text, (*self.signatures, signature))

    def by(self, verifier: Verifier) -> NoteSignature:
        """The one signature line of a verifier's name and key id; raises NoteInvalidError."""
        found = [s for s in self.signatures if (s.name, s.key_id) == (verifier.name, verifier.id)]
        if len(found) != 1:
            raise NoteInvalidError("note is not signed by this key, or more than once")
        return found[0]

    def verify(self, verifier: Verifier) -> None:
        """Check that an Ed25519 key signed the text; raises NoteInvalidError, KeyInvalidError."""
        if verifier.kind != ED25519:
            raise NoteInvalidError("verifier is of another signature type")
        try:
            ed25519.verify(verifier.key, self.text.encode(), self.by(verifier).signature)
        except SignatureInvalidError:
            raise NoteInvalidError("note's signature does not hold") from None


def _text(data: bytes) -> str:
    if len(data) > MAX_SIZE:
        raise NoteInvalidError("note is too long")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise NoteInvalidError("note is not UTF-8") from None
    if any(ord(c) < 0x20 and c != "\n" for c in text):
        raise NoteInvalidError("note holds a control character")
    return text


def _base64(text: str) -> bytes:
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise NoteInvalidError("base64 is malformed") from None
    if base64.b64encode(data).decode() != text:
        raise NoteInvalidError("base64 is not canonical")
    return data
