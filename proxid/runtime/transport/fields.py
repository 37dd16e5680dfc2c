"""How many fields a message has, counted on its bytes before anybody parses it.

A parsed field takes some forty bytes of memory, an empty one two on the wire: a message within its size could take
twenty times that, and a moment in which nobody is answered. Wire format: protobuf.dev/programming-guides/encoding.
"""

from functools import cache
from typing import Final

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from proxid.errors import OversizedError

MOST: Final = 4096
"""Fields of one message, those within it included: a batch of 64 requests has 700, of 256 subject tags 256."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@cache
def request_type(method: str) -> Descriptor | None:
    """What `/package.Service/Method` takes; None if that is unknown here."""
    service, _, name = method.strip("/").rpartition("/")
    try:
        return descriptor_pool.Default().FindServiceByName(service).methods_by_name[name].input_type
    except KeyError:
        return None


@cache
def _inner(kind: Descriptor) -> dict[int, Descriptor]:
    """Fields of a message that are messages themselves."""
    return {
        number: field.message_type
        for number, field in kind.fields_by_number.items()
        if field.type == FieldDescriptor.TYPE_MESSAGE and field.message_type is not None
    }


def verify_count(data: bytes, kind: Descriptor, most: int = MOST) -> None:
    """Raises OversizedError if a message has more fields; what is no message at all is left to the parser.

    Args:
        data: the message. kind: its type: what is a message within it is counted through.
    """
    if len(data) <= most:  # a field has a byte at least
        return
    count, left = 0, [(kind, 0, len(data))]
    while left:
        kind, at, end = left.pop()
        inner = _inner(kind)
        while at < end:
            count += 1
            if count > most:
                raise OversizedError(f"message has more than {most} fields")
            tag, at = _varint(data, at, end)
            form = tag & 7
            if form == _BYTES:
                size, at = _varint(data, at, end)
                within = inner.get(tag >> 3)
                if within is not None and at + size <= end:
                    left.append((within, at, at + size))
                at += size
            elif form == _VARINT:
                _, at = _varint(data, at, end)
            elif form in (_FIXED32, _FIXED64):
                at += 4 if form == _FIXED32 else 8
            # A group's ends hold nothing; other forms do not exist, and the parser stops at them.


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A varint and where it ends; one that is cut off or too long ends the message."""
    value = shift = 0
    while at < end and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    return 0, end
