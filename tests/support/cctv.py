"""The construction of the C2SP CCTV Ed25519 edge vectors, from their published description.

Every point A and R is a small-order point, alone or added to one prime-order point, in every encoding that a
lenient decoder takes. For each pair the message is searched such that the small-order parts of R + [k]A cancel,
and such that they do not. `reencoded_k` vectors compute k from the canonical encodings of what they send.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.edwards import BASE, TORSION, L, Point, challenge, clamp, scalar_bytes

A_SCALAR = clamp(b"\x42" * 32)
R_SCALAR = int.from_bytes(b"\x13\x37" * 32, "little") % L
_A, _R = A_SCALAR * BASE, R_SCALAR * BASE
_FLAGS = (
    "low_order_R", "low_order_A", "low_order_component_R", "low_order_component_A",
    "low_order_residue", "non_canonical_A", "non_canonical_R", "reencoded_k",
)  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One of the two points: its multiple of the order-8 generator, what is sent, what is canonical."""

    torsion: int
    sent: bytes
    canonical: bytes
    low_order: bool


def _side(torsion: int, prime: Point) -> Side:
    data = bytes(TORSION[torsion] + prime)
    return Side(torsion, data, data, low_order=False)


def _alone(torsion: int, sent: bytes | None = None) -> Side:
    data = bytes(TORSION[torsion])
    return Side(torsion, sent or data, data, low_order=True)


def _messages() -> Iterator[str]:
    yield "ed25519vectors"
    number = 0
    while True:
        number += 1
        yield f"ed25519vectors {number}"


def _vectors(a: Side, r: Side, reencode: bool = False) -> Iterator[dict[str, object]]:
    hashed_a, hashed_r = (a.canonical, r.canonical) if reencode else (a.sent, r.sent)
    found: set[bool] = set()
    for remainder in range(8):
        message = next(m for m in _messages() if challenge(hashed_r, hashed_a, m.encode()) % 8 == remainder)
        if (residue := (r.torsion + remainder * a.torsion) % 8 != 0) in found:
            continue
        found.add(residue)
        k = challenge(hashed_r, hashed_a, message.encode())
        s = ((0 if r.low_order else R_SCALAR) + k * (0 if a.low_order else A_SCALAR)) % L
        sent_k = challenge(r.sent, a.sent, message.encode())
        holds = (
            r.low_order, a.low_order, r.torsion != 0, a.torsion != 0, (r.torsion + sent_k * a.torsion) % 8 != 0,
            a.sent != a.canonical, r.sent != r.canonical, reencode,
        )  # fmt: skip
        yield {
            "key": a.sent.hex(),
            "sig": (r.sent + scalar_bytes(s)).hex(),
            "msg": message,
            "flags": [flag for flag, on in zip(_FLAGS, holds, strict=True) if on],
        }


def _pair(a: int, r: int) -> Iterator[dict[str, object]]:
    alternatives_a = TORSION[a].alternative_encodings()
    alternatives_r = TORSION[r].alternative_encodings()
    for side_a in (_alone(a), _side(a, _A)):
        for side_r in (_alone(r), _side(r, _R)):
            yield from _vectors(side_a, side_r)
    for sent in alternatives_a:
        yield from _vectors(_alone(a, sent), _alone(r))
        yield from _vectors(_alone(a, sent), _side(r, _R))
        yield from _vectors(_alone(a, sent), _side(r, _R), reencode=True)
    for sent in alternatives_r:
        yield from _vectors(_alone(a), _alone(r, sent))
        yield from _vectors(_side(a, _A), _alone(r, sent))
        yield from _vectors(_side(a, _A), _alone(r, sent), reencode=True)
    for sent_a in alternatives_a:
        for sent_r in alternatives_r:
            yield from _vectors(_alone(a, sent_a), _alone(r, sent_r))


def generate() -> list[dict[str, object]]:
    """All vectors, numbered, in the published order."""
    order = sorted(range(8), key=lambda i: bytes(TORSION[i]))
    found = (vector for a in order for r in order for vector in _pair(a, r))
    return [{"number": i, **vector} for i, vector in enumerate(found)]
