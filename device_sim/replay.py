"""Replays many events through households: at a rate or at the file's own times, so many at once (DESIGN 15)."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from device_sim.corpus import Event
from proxid.clients.household.household import Household
from proxid.errors import InputError, ProxidError, RefusedError


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast.

    Attributes:
        concurrency: requests under way at once. rate: requests a second, or None. speed: how many times faster than
            the events' own times, or None: as fast as answers come.
        seconds: after which nothing more is sent; what is under way is finished. None: no limit.
    """

    concurrency: int = 16
    rate: float | None = None
    speed: float | None = None
    seconds: float | None = None

    def due(self, events: Iterable[Event]) -> Iterator[tuple[float, Event]]:
        """Each event with the seconds after the start at which it is due."""
        first: float | None = None
        for number, event in enumerate(events):
            if self.speed is not None and event.time is not None:
                first = event.time if first is None else first
                yield max(0.0, event.time - first) / self.speed, event
            else:
                yield (number / self.rate if self.rate else 0.0), event


@dataclass(slots=True)
class Summary:
    """What became of the requests; `refused` and `failed` by code."""

    requests: int = 0
    answered: int = 0
    retried: int = 0
    consents: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list, repr=False)

    def quantile(self, share: float) -> float:
        """A quantile of the answered requests' latencies, in milliseconds; 0 without any."""
        ordered = sorted(self.latencies)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

    def as_dict(self) -> dict[str, object]:
        """For printing."""
        return {
            "requests": self.requests,
            "answered": self.answered,
            "retried": self.retried,
            "consents": self.consents,
            "refused": dict(sorted(self.refused.items())),
            "failed": dict(sorted(self.failed.items())),
            "seconds": round(self.seconds, 3),
            "per_second": round(self.requests / self.seconds, 1) if self.seconds else 0.0,
            "p50_ms": round(self.quantile(0.5), 2),
            "p99_ms": round(self.quantile(0.99), 2),
        }


class Replay:
    """One run.

    Args:
        speakers: household by USER_ID: the recognition of speakers. pace: how fast. progress: called after each event.
    """

    def __init__(
        self, speakers: Mapping[str, Household], pace: Pace, progress: Callable[[Summary], None] | None = None
    ) -> None:
        self._speakers = speakers
        self._pace = pace
        self._progress = progress
        self._turns: dict[str, asyncio.Lock] = {}
        self.summary = Summary()

    async def run(self, events: Iterable[Event]) -> Summary:
        """Send all events; returns what became of them. Raises InputError for a person of no household."""
        start = time.monotonic()
        waiting = self._pace.due(events)
        workers = [self._worker(waiting, start) for _ in range(self._pace.concurrency)]
        try:
            await asyncio.gather(*workers)
        finally:
            self.summary.seconds = time.monotonic() - start
        return self.summary

    async def _worker(self, waiting: Iterator[tuple[float, Event]], start: float) -> None:
        for due, event in waiting:
            delay = max(0.0, start + due - time.monotonic())
            if self._pace.seconds is not None and time.monotonic() + delay - start > self._pace.seconds:
                return
            if delay > 0:
                await asyncio.sleep(delay)
            # A person does one thing after the other, in the order of the file.
            async with self._turns.setdefault(event.user, asyncio.Lock()):
                await self._one(event)
            if self._progress is not None:
                self._progress(self.summary)

    async def _one(self, event: Event) -> None:
        household, summary = self._speakers.get(event.user), self.summary
        if household is None:
            raise InputError("a person of the file is enrolled in none of the households")
        try:
            if event.consent is not None:
                await household.consent(event.user, event.consent)
                summary.consents += 1
                return
            summary.requests += 1
            begun = time.monotonic()
            answer = await household.ask(event.user, event.text, event.location)
        except RefusedError as error:
            summary.refused[error.remote.value] += 1
        except ProxidError as error:
            summary.failed[error.code.value] += 1
        else:
            summary.latencies.append(time.monotonic() - begun)
            summary.answered += 1
            summary.retried += answer.retries > 0
