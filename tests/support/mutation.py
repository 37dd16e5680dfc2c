"""Changes that an adversary without keys can make to an encoding."""

from collections.abc import Iterator


def flips(data: bytes, masks: tuple[int, ...] = (0x01, 0x80)) -> Iterator[bytes]:
    """Every byte changed, in the lowest and in the highest bit."""
    for at in range(len(data)):
        for mask in masks:
            yield data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


def cuts(data: bytes) -> Iterator[bytes]:
    """Every truncation at the end, and the first byte gone."""
    for size in range(len(data)):
        yield data[:size]
    yield data[1:]


def extensions(data: bytes) -> Iterator[bytes]:
    """A byte, or a copy of itself, before or after."""
    for extra in (b"\x00", b"\xff", data):
        yield data + extra
        yield extra + data


def changes(data: bytes) -> Iterator[bytes]:
    """All of them."""
    yield from flips(data)
    yield from cuts(data)
    yield from extensions(data)
