"""What one peer may have under way at a service: streams, calls, and the bytes of their messages (DESIGN 5.7).

It is asked before a message is parsed: over the budget a caller costs what gRPC costs, and nothing more. Each worker
counts for itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from proxid.errors import OverloadedError

if TYPE_CHECKING:
    from proxid.runtime.transport.peers import Peer


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most of one peer at once; size: bytes."""

    streams: int
    calls: int
    size: int


OUTSIDERS: Final = Bounds(128, 128, 8 * 1024 * 1024)
"""A household, a party, an auditor: a connection's worth of streams, each with a message."""
SERVICE_ROLES: Final = ("gateway", "main-service")
SERVICES: Final = Bounds(1024, 4096, 64 * 1024 * 1024)
"""The other service, with all its workers: it carries everybody's messages."""


@dataclass(slots=True)
class _Held:
    streams: int = 0
    calls: int = 0
    size: int = 0

    def add(self, streams: int, calls: int, size: int) -> None:
        self.streams, self.calls, self.size = self.streams + streams, self.calls + calls, self.size + size

    def exceeds(self, bounds: Bounds) -> bool:
        return self.streams > bounds.streams or self.calls > bounds.calls or self.size > bounds.size


class Budget:
    """Counts by peer: its certificates share one budget, so that a renewed one brings no second."""

    def __init__(self) -> None:
        self._held: dict[Peer, _Held] = {}

    def __len__(self) -> int:
        """Peers that have something under way."""
        return len(self._held)

    @contextmanager
    def stream(self, peer: "Peer") -> Iterator[None]:
        """A place for a stream while the block runs; raises OverloadedError."""
        with self._place(peer, 1, 0, 0):
            yield

    @contextmanager
    def call(self, peer: "Peer", size: int) -> Iterator[None]:
        """A place for a message of so many bytes while the block runs; raises OverloadedError."""
        with self._place(peer, 0, 1, size):
            yield

    @contextmanager
    def _place(self, peer: "Peer", streams: int, calls: int, size: int) -> Iterator[None]:
        held = self._held.setdefault(peer, _Held())
        held.add(streams, calls, size)
        try:
            if held.exceeds(SERVICES if peer.role in SERVICE_ROLES else OUTSIDERS):
                raise OverloadedError("this caller has too much under way")
            yield
        finally:
            held.add(-streams, -calls, -size)
            if not (held.streams or held.calls):
                self._held.pop(peer, None)
