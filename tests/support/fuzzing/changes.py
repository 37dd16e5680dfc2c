"""Seeded changes of bytes, of protobuf messages field by field, and of canonical encodings item by item.

Each change is told in words: keys are new in every run, so what was found is made again of another message by them.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from proxid.encoding import decode, encode_seq
from proxid.errors import EncodingError

Field = tuple[int, int, int | bytes]
"""Number, wire type and value of one field (protobuf.dev/programming-guides/encoding)."""
Change = Callable[[Random, bytes], bytes]

BIG: Final = (0, 1, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1)
TEXTS: Final = tuple(
    text.encode()
    for text in ("\ud7ff", "e\u0301", "\u202e", "\0", "px1", "*", "?", "[a-z]", "../../x", "\ufeff", "nan", "-1")
)
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DEEPEST: Final = 4
"""Levels of messages and encodings within each other that are taken apart."""


def _at(source: Random, data: bytes) -> int:
    return source.randrange(len(data))


def _flip(source: Random, data: bytes) -> bytes:
    at = _at(source, data)
    return data[:at] + bytes([data[at] ^ (1 << source.randrange(8))]) + data[at + 1 :]


def _hole(source: Random, data: bytes) -> bytes:
    at = _at(source, data)
    return data[:at] + data[at + source.randrange(1, 9) :]


def _more(source: Random, data: bytes) -> bytes:
    at = _at(source, data)
    return data[:at] + source.randbytes(source.randrange(1, 9)) + data[at:]


def _number(source: Random, data: bytes) -> bytes:
    at, size = _at(source, data), source.choice((4, 8))
    return data[:at] + (source.choice(BIG) % (1 << 8 * size)).to_bytes(size, "big") + data[at + size :]


def _swap(source: Random, data: bytes) -> bytes:
    found = bytearray(data)
    one, other = _at(source, data), _at(source, data)
    found[one], found[other] = found[other], found[one]
    return bytes(found)


BYTES: Final[dict[str, Change]] = {
    "a bit flipped": _flip,
    "cut": lambda source, data: data[: _at(source, data)],
    "longer": lambda source, data: data + source.randbytes(source.choice((1, 4, 100))),
    "a hole": _hole,
    "bytes put in": _more,
    "noise": lambda source, data: source.randbytes(len(data)),
    "empty": lambda source, data: b"",
    "repeated": lambda source, data: data * source.choice((2, 3, 50)),
    "a number": _number,
    "a text": lambda source, data: source.choice(TEXTS) * source.choice((1, 16)),
    "two bytes swapped": _swap,
}


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    found = bytearray()
    while True:
        found.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(found)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("no varint")


def fields_of(data: bytes) -> list[Field] | None:
    """The fields of a message; None for what is none."""
    found: list[Field] = []
    at = 0
    try:
        while at < len(data):
            tag, at = _read_varint(data, at)
            number, form = tag >> 3, tag & 7
            value: int | bytes
            if form == _VARINT:
                value, at = _read_varint(data, at)
            else:
                size = {_FIXED64: 8, _FIXED32: 4}.get(form, 0)
                if form == _BYTES:
                    size, at = _read_varint(data, at)
                value, at = data[at : at + size], at + size
                if form not in (_FIXED64, _FIXED32, _BYTES) or at > len(data):
                    return None
            if not number:
                return None
            found.append((number, form, value))
    except (IndexError, ValueError):
        return None
    return found


def wire_of(fields: Sequence[Field]) -> bytes:
    """A message of fields, whatever they are."""
    found = bytearray()
    for number, form, value in fields:
        found += varint(number << 3 | form)
        if isinstance(value, int):
            found += varint(value)
        else:
            found += (varint(len(value)) if form == _BYTES else b"") + value
    return bytes(found)


class Changer:
    """Draws changes.

    Args:
        source: decides everything. pool: other messages, of which fields and wholes are taken.

    Attributes:
        said: what was done, in words.
    """

    def __init__(self, source: Random, pool: Sequence[bytes] = ()) -> None:
        self._source, self._pool = source, pool
        self.said: list[str] = []

    def message(self, data: bytes) -> bytes:
        """A protobuf message with one to three changes; rarely something else in its place."""
        kind = self._source.randrange(12)
        if kind == 0:
            return self._tell("noise", self._source.randbytes(self._source.choice((1, 9, 400))))
        if kind == 1:
            return self._tell("another message", self._source.choice(self._pool)) if self._pool else b""
        if kind == 2:
            lie = varint(self._source.randrange(1, 6) << 3 | _BYTES) + varint(self._source.choice(BIG))
            return self._tell("a length that is not there", lie + self._source.randbytes(10))
        for _ in range(self._source.choice((1, 1, 1, 2, 3))):
            fields = fields_of(data) if kind > 3 else None
            data = self.raw(data) if fields is None else wire_of(self._fields(fields, "", 0))
        return data

    def raw(self, data: bytes, where: str = "") -> bytes:
        """Bytes with one change."""
        if not data:
            return self._tell(f"{where} bytes in an empty place", self._source.randbytes(self._source.choice((1, 32))))
        name = self._source.choice(list(BYTES))
        return self._tell(f"{where} {name}", BYTES[name](self._source, data))

    def value(self, data: bytes, where: str = "", depth: int = 0) -> bytes:
        """Bytes changed as what they are: a message within, a canonical encoding, or bytes."""
        if depth < _DEEPEST and self._source.random() < 0.8:
            if (items := _items(data)) is not None:
                return self._encoding(items, where, depth + 1)
            if (fields := fields_of(data)) and len(data) > 2:
                return wire_of(self._fields(fields, where, depth + 1))
        return self.raw(data, where)

    def _tell(self, words: str, data: bytes) -> bytes:
        self.said.append(words.strip())
        return data

    def _fields(self, fields: list[Field], where: str, depth: int) -> list[Field]:
        """One change to the fields of a message."""
        source, found = self._source, list(fields)
        if not found:
            self.said.append(f"{where} a field in an empty message".strip())
            return [(source.randrange(1, 20), _BYTES, source.randbytes(20))]
        at, kind = source.randrange(len(found)), source.randrange(14)
        number, form, value = found[at]
        here = f"{where}/{number}"
        if kind < 6:
            found[at] = (number, form, self._changed(form, value, here, depth))
            return found
        words = self._rearranged(found, at, kind)
        self.said.append(f"{here} {words}")
        return found

    def _changed(self, form: int, value: int | bytes, where: str, depth: int) -> int | bytes:
        if isinstance(value, bytes):
            return self.value(value, where, depth) if form == _BYTES else self._source.randbytes(len(value))
        chosen = self._source.choice(BIG)
        self.said.append(f"{where} = {chosen}")
        return chosen

    def _rearranged(self, found: list[Field], at: int, kind: int) -> str:
        source, (number, form, value) = self._source, found[at]
        if kind == 6:
            del found[at]
            return "left out"
        if kind == 7:
            found.insert(source.randrange(len(found) + 1), found[at])
            return "doubled"
        if kind == 8:
            other = source.randrange(len(found))
            found[at], found[other] = (number, *found[other][1:]), (found[other][0], form, value)
            return f"swapped with {found[other][0]}"
        if kind == 9:
            found.append((source.choice((100, 5000, 2**28)), _BYTES, source.randbytes(source.choice((0, 10, 5000)))))
            return "and an unknown field"
        if kind == 10:
            found.append((number, _BYTES, _nested(number, source.choice((50, 99, 101, 500, 3000)))))
            return "nested deeply"
        if kind == 11:
            found[at] = (source.randrange(1, 8), form, value)
            return f"as {found[at][0]}"
        if kind == 12:
            found[at] = (number, _VARINT, 7) if form == _BYTES else (number, _BYTES, b"\x07")
            return "of another type"
        return self._borrowed(found, at)

    def _borrowed(self, found: list[Field], at: int) -> str:
        """The value of a field of another message: a genuine one in the wrong place."""
        other = fields_of(self._source.choice(self._pool)) if self._pool else None
        if not other:
            found.extend(found)
            return "and all fields again"
        number, form, value = self._source.choice(other)
        found[at] = (found[at][0], form, value)
        return f"is field {number} of another message"

    def _encoding(self, items: list[bytes], where: str, depth: int) -> bytes:
        """One change to the items of a canonical encoding."""
        source, found = self._source, list(items)
        at, kind = source.randrange(len(found)), source.randrange(9)
        here = f"{where}[{at}]"
        if kind < 5:
            found[at] = self.value(found[at], here, depth)
        elif kind == 5:
            self._tell(f"{here} left out", found.pop(at))
        elif kind == 6:
            self._tell(f"{here} doubled", found[at])
            found.insert(at, found[at])
        elif kind == 7:
            other = source.randrange(len(found))
            self.said.append(f"{here} swapped with [{other}]")
            found[at], found[other] = found[other], found[at]
        else:
            return self.raw(encode_seq(found), where)
        return encode_seq(found)


def _items(data: bytes) -> list[bytes] | None:
    try:
        return decode(data) or None
    except EncodingError:
        return None


def _nested(number: int, depth: int) -> bytes:
    data = b""
    for _ in range(depth):
        data = varint(number << 3 | _BYTES) + varint(len(data)) + data
    return data
