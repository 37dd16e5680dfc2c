"""The canonical encoding E of everything that is signed or hashed (DESIGN 3).

    E(x1,…,xn) = u32(n) ‖ Π (u32(|xi|) ‖ xi)          big endian

Integers are u64, text is NFC UTF-8. The encoding is injective for a fixed list of types: each signed structure
starts with a label of its own, which fixes that list. Decoders reject whatever does not re-encode to itself.
"""

import struct
import unicodedata
from collections.abc import Sequence

from proxid.errors import EncodingError

LABEL_PREFIX = b"proxid/v1/"
_U32 = struct.Struct(">I")
_U64 = struct.Struct(">Q")
_LENGTH_AND_U64 = struct.Struct(">IQ")
_SHORT = 2048
_LENGTHS = tuple(_U32.pack(size) for size in range(_SHORT))
"""Encoded lengths of short items: looked up faster than packed."""

Item = bytes | str | int


def label(purpose: str, version: int = 1) -> bytes:
    """The domain-separation label of one purpose: every signed or hashed structure begins with one.

    Args:
        version: of the layout that follows it, counted for each purpose.
    """
    prefix = LABEL_PREFIX if version == 1 else b"proxid/v%d/" % version
    return prefix + purpose.encode("ascii")


def encode_text(text: str) -> bytes:
    """NFC text as UTF-8.

    Raises:
        EncodingError: the text is not NFC (it is rejected, never normalised) or holds a lone surrogate.
    """
    if text.isascii():
        return text.encode("ascii")
    if not unicodedata.is_normalized("NFC", text):
        raise EncodingError("text is not in Unicode NFC")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise EncodingError("text holds a lone surrogate") from None


def decode_text(data: bytes) -> str:
    """UTF-8 bytes as text; raises EncodingError unless they are the NFC encoding of it."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise EncodingError("text is not UTF-8") from None
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        raise EncodingError("text is not in Unicode NFC")
    return text


def encode_int(value: int) -> bytes:
    """An integer as u64; raises EncodingError outside 0 … 2⁶⁴−1."""
    try:
        return _U64.pack(value)
    except struct.error:
        raise EncodingError("integer outside u64") from None


def decode_int(data: bytes) -> int:
    """A u64; raises EncodingError unless the item has exactly eight bytes."""
    if len(data) != _U64.size:
        raise EncodingError("integer is not eight bytes")
    return int.from_bytes(data, "big")


def _item(item: Item) -> bytes:
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        return encode_text(item)
    return encode_int(item)


def encode(*items: Item) -> bytes:
    """E(items): bytes as they are, text as NFC UTF-8, integers as u64."""
    parts = [_U32.pack(len(items))]
    append = parts.append
    try:
        for item in items:
            if type(item) is bytes:
                data = item
            elif type(item) is str and item.isascii():  # NFC, whatever it says
                data = item.encode("ascii")
            elif type(item) is int:
                append(_LENGTH_AND_U64.pack(8, item))
                continue
            else:
                data = _item(item)
            size = len(data)
            append(_LENGTHS[size] if size < _SHORT else _U32.pack(size))
            append(data)
    except struct.error:
        raise EncodingError("integer outside u64") from None
    return b"".join(parts)


def encode_seq(items: Sequence[Item]) -> bytes:
    """E(items) of a sequence."""
    return encode(*items)


def decode(data: bytes, count: int | None = None) -> list[bytes]:
    """The items of an encoding.

    Args:
        data: what `encode` produced.
        count: how many items there must be; any number when None.

    Raises:
        EncodingError: truncated, trailing bytes, or another number of items.
    """
    size = len(data)
    if size < 4:
        raise EncodingError("encoding is truncated")
    (n,) = _U32.unpack_from(data)
    if count is not None and n != count:
        raise EncodingError("encoding has an unexpected number of items")
    # Each item takes at least its length, so a false n ends at the data's end: work is bounded by what was sent.
    items: list[bytes] = []
    append, length, at = items.append, _U32.unpack_from, 4
    try:
        for _ in range(n):
            start = at + 4
            at = start + length(data, at)[0]
            append(data[start:at])
    except struct.error:
        raise EncodingError("encoding is truncated") from None
    # What ends beyond the data was cut short, its length or itself; there is nothing behind it to be read.
    if at > size:
        raise EncodingError("encoding is truncated")
    if at != size:
        raise EncodingError("encoding has trailing bytes")
    return items
