"""HMAC-SHA256 (RFC 2104), written out with two hashes.

`hmac.digest` has OpenSSL 3 look its algorithms up anew for every call, which takes three times as long as the hashes.
"""

from hashlib import sha256
from typing import Final

_BLOCK: Final = 64
_INNER: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(256))


def hmac_sha256(key: bytes, message: bytes) -> bytes:
    """The code of a message under a key of any length, 32 bytes."""
    if len(key) > _BLOCK:
        key = sha256(key).digest()
    key = key.ljust(_BLOCK, b"\0")
    return sha256(key.translate(_OUTER) + sha256(key.translate(_INNER) + message).digest()).digest()
