"""Where evidence comes from: anything that yields a log's events in order (a service over gRPC, a folder, a list)."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from proxid.evidence.events import Event


class EvidenceSource(Protocol):
    """One service's log."""

    def events(self, first: int = 1) -> Iterator[Event]:
        """Events from a number on, up to the newest; raises ProxidError if they cannot be read."""
        ...


class EventList:
    """Events at hand."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = list(events)

    def events(self, first: int = 1) -> Iterator[Event]:
        """Events from a number on."""
        return (event for event in self._events if event.number >= first)
