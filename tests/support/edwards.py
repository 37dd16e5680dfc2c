"""edwards25519 from its definition (RFC 8032 §5.1), slow and plain: points that a library would not make for us.

Used only to build malformed keys and signatures: points of small order, points with a small-order component,
encodings that are not canonical, scalars of our choice. Nothing here is constant-time.
"""

import hashlib
from dataclasses import dataclass

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
_SQRT_M1 = pow(2, (P - 1) // 4, P)
_SIGN = 1 << 255


@dataclass(frozen=True)
class Point:
    """An affine point; the identity is (0, 1)."""

    x: int
    y: int

    def __add__(self, other: "Point") -> "Point":
        k = D * self.x * other.x * self.y * other.y % P
        x = (self.x * other.y + self.y * other.x) * pow(1 + k, -1, P) % P
        y = (self.y * other.y + self.x * other.x) * pow(1 - k, -1, P) % P
        return Point(x, y)

    def __rmul__(self, n: int) -> "Point":
        result, base = IDENTITY, self
        while n:
            if n & 1:
                result += base
            base, n = base + base, n >> 1
        return result

    def __bytes__(self) -> bytes:
        """The canonical encoding: y, little endian, with the lowest bit of x on top."""
        return (self.y | (self.x & 1) << 255).to_bytes(32, "little")

    def alternative_encodings(self) -> list[bytes]:
        """The encodings that a lenient decoder takes for this point: y + p where it fits, "minus zero" for x."""
        ys = [self.y] + ([self.y + P] if self.y + P < _SIGN else [])
        signs = [self.x & 1] if self.x else [0, 1]
        found = [(y | sign << 255).to_bytes(32, "little") for y in ys for sign in signs]
        return sorted(e for e in found if e != bytes(self))


IDENTITY = Point(0, 1)


def recover(y: int, sign: int) -> Point | None:
    """The point of a y coordinate and the lowest bit of x, if there is one."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * _SQRT_M1 % P
    if x * x % P != square:
        return None
    return Point(P - x if x & 1 != sign and x else x, y)


def _generator_of_torsion() -> Point:
    """The first point, by y, whose multiple by L has order 8: it generates the eight points of small order."""
    for y in range(2, 100):
        point = recover(y, 0)
        if point is not None and 4 * (torsion := L * point) != IDENTITY:
            return torsion
    raise AssertionError("no point of order 8")


_base = recover(4 * pow(5, -1, P) % P, 0)
assert _base is not None
BASE: Point = _base
TORSION: list[Point] = [i * _generator_of_torsion() for i in range(8)]
"""The multiples 0 … 7 of a point of order 8."""


def clamp(data: bytes) -> int:
    """A secret scalar from 32 bytes (RFC 8032 §5.1.5, step 2)."""
    return int.from_bytes(data, "little") & ((1 << 254) - 8) | 1 << 254


def secret_scalar(seed: bytes) -> int:
    """The secret scalar of a seed."""
    return clamp(hashlib.sha512(seed).digest()[:32])


def challenge(r: bytes, key: bytes, message: bytes) -> int:
    """k = SHA512(R ‖ A ‖ M) mod L."""
    return int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % L


def scalar_bytes(s: int) -> bytes:
    """A scalar, 32 bytes little endian, reduced or not."""
    return s.to_bytes(32, "little")


def sign_with_nonce(
    seed: bytes, key: bytes, message: bytes, r: int, torsion: Point = IDENTITY, sent: bytes | None = None
) -> bytes:
    """What a key's owner can make: R = rB + T, sent in an encoding of choice, S = r + k·a."""
    encoded = sent or bytes(r * BASE + torsion)
    return encoded + scalar_bytes((r + challenge(encoded, key, message) * secret_scalar(seed)) % L)
