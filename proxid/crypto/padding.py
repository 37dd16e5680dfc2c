"""Padding to size buckets, so that a length tells no more than its bucket (DESIGN 5.1, 5.4, 8.4.1).

padded = u32(|x|) ‖ x ‖ 0…0, as long as the smallest bucket that holds it.
"""

import struct
from collections.abc import Sequence

from proxid.errors import EncodingError, OversizedError

_LENGTH = struct.Struct(">I")


def pad(data: bytes, buckets: Sequence[int]) -> bytes:
    """Pad to the smallest of the increasing bucket sizes (bytes); raises OversizedError if none holds it."""
    need = len(data) + _LENGTH.size
    for size in buckets:
        if need <= size:
            return _LENGTH.pack(len(data)) + data + bytes(size - need)
    raise OversizedError("plaintext is larger than the largest size bucket")


def unpad(padded: bytes, buckets: Sequence[int]) -> bytes:
    """The data of a padding; raises EncodingError unless it is exactly what `pad` makes."""
    if len(padded) not in buckets or len(padded) < _LENGTH.size:
        raise EncodingError("padded length is not a size bucket")
    (length,) = _LENGTH.unpack_from(padded)
    data = padded[_LENGTH.size : _LENGTH.size + length]
    # One comparison finds a false length, a filling that is not zero, and a bucket that is not the smallest.
    if len(data) != length or pad(data, buckets) != padded:
        raise EncodingError("padding is not the one that pad makes")
    return data
