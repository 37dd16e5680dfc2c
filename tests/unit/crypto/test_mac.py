"""HMAC-SHA256 against RFC 4231's vectors, and against the standard library's for every length around a block's."""

import hmac
import random

import pytest

from proxid.crypto.mac import hmac_sha256

VECTORS = [
    (b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (b"Jefe", b"what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    (b"\xaa" * 20, b"\xdd" * 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    (
        b"\xaa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
]


@pytest.mark.parametrize(("key", "message", "code"), VECTORS)
def test_the_published_codes(key: bytes, message: bytes, code: str) -> None:
    assert hmac_sha256(key, message).hex() == code


@pytest.mark.parametrize("length", [0, 1, 32, 63, 64, 65, 80, 128])
def test_the_same_as_the_standard_library(length: int) -> None:
    source = random.Random(length)
    for size in (0, 1, 55, 64, 1000):
        key, message = source.randbytes(length), source.randbytes(size)
        assert hmac_sha256(key, message) == hmac.digest(key, message, "sha256")
