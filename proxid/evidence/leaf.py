"""Leaves (DESIGN 10.2): a salted commitment to a header, which commits to encrypted payloads, one a person.

    leaf     = SHA256(0x00 ‖ E("leaf", salt, header))
    header   = E(number, type, fields, E(tag, hash), E(tag, hash), …)      hash = SHA256(E("part", part))
    part     = E(tag, chain index, seal of the chain key or empty, ciphertext)

Headers and hashes stay for ever; a part may go (erasure makes it unreadable, retention removes it) and every proof
still verifies. A part with an empty tag is for everybody: it names nobody and is stored as it is.
"""

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from proxid.encoding import decode, decode_int, encode, label
from proxid.errors import EncodingError
from proxid.evidence.events import EventType, Header, decode_header
from proxid.evidence.merkle import leaf_hash
from proxid.evidence.ratchet import TAG_SIZE
from proxid.once import once

OPEN_TAG: Final = b""
"""The tag of a part that names nobody."""

_LEAF = label("leaf")
_PART = label("part")
_CONTEXT = label("part-context")
_HASH_SIZE: Final = 32
_TYPES: Final = {kind.value.encode("ascii"): kind for kind in EventType}

# Leaves are made for each request, and their layouts never vary: what of E is the same each time is laid out once.
_U32: Final = struct.Struct(">I")
_PART_HEAD: Final = encode(_PART, b"")[: -_U32.size]
_INDEX_AND_LENGTH: Final = struct.Struct(">IQI")
_PLACE: Final = struct.Struct(">IQIQI")
_LENGTH_AND_NUMBER: Final = struct.Struct(">IQ")
_COMMITMENT: Final = struct.Struct(">III")
_FOUR: Final = _U32.pack(4)
_TYPE_ITEMS: Final = {kind: encode(kind.value)[_U32.size :] for kind in EventType}


@dataclass(frozen=True, slots=True)
class Part:
    """One person's payload of an event, encrypted; or a part for everybody, if its tag is empty.

    Attributes:
        seal: of the chain key, in the first part under that chain only. body: ciphertext, or open bytes.
    """

    tag: bytes
    index: int
    seal: bytes
    body: bytes

    def encode(self) -> bytes:
        """Canonical form."""
        return part_bytes(self.tag, self.index, self.seal, self.body)

    @classmethod
    def decode(cls, data: bytes) -> "Part":
        """The part of an encoding; raises EncodingError."""
        tag, index, seal, body = decode(data, 4)
        _verify_tag(tag)
        return cls(tag, decode_int(index), seal, body)


def part_bytes(tag: bytes, index: int, seal: bytes, body: bytes) -> bytes:
    """A `Part`, encoded: for who makes many. E(tag, index, seal, body)."""
    index_and_length = _INDEX_AND_LENGTH.pack(8, index, len(seal))
    return b"".join((_FOUR, _U32.pack(len(tag)), tag, index_and_length, seal, _U32.pack(len(body)), body))


def part_hash(part: bytes) -> bytes:
    """What the header holds of an encoded part, 32 bytes: SHA256(E("part", part))."""
    return hashlib.sha256(_PART_HEAD + _U32.pack(len(part)) + part).digest()


def part_context(log: str, number: int, position: int, tag: bytes) -> bytes:
    """What binds a ciphertext to its place: E("part-context", log, number, position, tag)."""
    return _context_head(log) + _PLACE.pack(8, number, 8, position, len(tag)) + tag


@cache
def _context_head(log: str) -> bytes:
    return encode(_CONTEXT, log, 0, 0, b"")[: -_PLACE.size]


def _verify_tag(tag: bytes) -> None:
    if len(tag) not in {0, TAG_SIZE}:
        raise EncodingError("a subject tag has the wrong size")


@dataclass(frozen=True, slots=True)
class LeafHeader:
    """What an event says for ever.

    Attributes:
        number: from 1, gap-free. fields: canonical JSON. parts: tag and hash of each part, in order.
    """

    number: int
    type: EventType
    fields: bytes
    parts: tuple[tuple[bytes, bytes], ...] = ()

    def encode(self) -> bytes:
        """Canonical form."""
        return header_bytes(self.number, self.type, self.fields, self.parts)

    @classmethod
    def decode(cls, data: bytes) -> "LeafHeader":
        """The header of an encoding; raises EncodingError."""
        items = decode(data)
        if len(items) < 3:
            raise EncodingError("leaf header is truncated")
        try:
            kind = _TYPES[items[1]]
        except KeyError:
            raise EncodingError("leaf is of an unknown type") from None
        return cls(decode_int(items[0]), kind, items[2], tuple(_commitment(item) for item in items[3:]))

    @property
    def values(self) -> Header:
        """The fields; raises EncodingError."""
        return decode_header(self.fields)


def header_bytes(number: int, kind: EventType, fields: bytes, parts: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A `LeafHeader`, encoded: for who makes many."""
    commitments = [
        _COMMITMENT.pack(3 * _U32.size + len(tag) + len(digest), 2, len(tag)) + tag + _U32.pack(len(digest)) + digest
        for tag, digest in parts
    ]
    head = _U32.pack(3 + len(commitments)) + _LENGTH_AND_NUMBER.pack(8, number) + _TYPE_ITEMS[kind]
    return b"".join((head, _U32.pack(len(fields)), fields, *commitments))


def _commitment(data: bytes) -> tuple[bytes, bytes]:
    tag, digest = decode(data, 2)
    _verify_tag(tag)
    if len(digest) != _HASH_SIZE:
        raise EncodingError("leaf header holds a hash of the wrong size")
    return tag, digest


_DAMAGED: Final = b"damaged"


@dataclass(frozen=True)
class Leaf:
    """What a log stores of an event: salt, encoded header, encoded parts (empty where one is gone).

    Attributes:
        lost: of a leaf that is damaged, its hash, and nothing else. damaged: of a leaf whose payload is damaged.
    """

    salt: bytes
    header: bytes
    parts: tuple[bytes, ...] = ()
    lost: bytes = b""
    damaged: bool = False

    @once
    def hash(self) -> bytes:
        """The leaf hash in the Merkle tree, 32 bytes; computed once."""
        return self.lost or hash_of(self.salt, self.header)

    @once
    def known(self) -> LeafHeader:
        """The header, decoded once: who reads a log looks at it, and who opens it. Raises EncodingError."""
        return LeafHeader.decode(self.header)

    @once
    def part_hashes(self) -> tuple[bytes, ...]:
        """`part_hash` of each part, whatever the header says of them; computed once."""
        return tuple(part_hash(part) for part in self.parts)

    @once
    def stored(self) -> tuple[bytes, bytes]:
        """What a segment holds of it: E(salt, header), and E(part, part, …); computed once."""
        return encode(self.salt, self.header), encode(*self.parts)

    def encode(self) -> bytes:
        """Canonical form: three fields; of a damaged leaf one, its hash; of one whose payload is damaged a fourth."""
        if self.lost:
            return encode(self.lost)
        mark = (_DAMAGED,) if self.damaged else ()
        return encode(self.salt, self.header, encode(*self.parts), *mark)

    @classmethod
    def decode(cls, data: bytes) -> "Leaf":
        """The leaf of an encoding; raises EncodingError."""
        items = decode(data)
        if len(items) == 1 and len(items[0]) == _HASH_SIZE:
            return cls(b"", b"", lost=items[0])
        if len(items) == 4 and items[3] == _DAMAGED:
            return cls(items[0], items[1], tuple(decode(items[2])), damaged=True)
        salt, header, parts = decode(data, 3)
        return cls(salt, header, tuple(decode(parts)))


def hash_of(salt: bytes, header: bytes) -> bytes:
    """The leaf hash of a salt and an encoded header, 32 bytes."""
    return leaf_hash(encode(_LEAF, salt, header))
