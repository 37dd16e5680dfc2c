"""The pool of mode mix in memory and on a store behind one face, so that one test class runs on both (DESIGN 12)."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Coroutine
from typing import Any, Protocol

from main_service.store.library import PREFIX, library
from main_service.store.pool import SEPARATOR, FormedGroup, PoolStore
from proxid.anonymise.mix.pool import STEP_LIMIT, Pool
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Group, Raised, Reason, Record, Step, Submission, Suppressed, WaitingRecord
from proxid.evidence.events import BufferedPayload, ReleasedPayload
from proxid.runtime.store import connect

Event = tuple[str, dict[str, Any]]


class Backend(Protocol):
    """What a pool does, wherever it is kept."""

    def submit(self, record: Record) -> Submission: ...
    def tick(self, now: float, limit: int = STEP_LIMIT) -> Step: ...
    def withdraw(self, person: str, audiences: Collection[str] | None = None) -> tuple[bytes, ...]: ...
    def close(self, limit: int = STEP_LIMIT) -> Step: ...
    def waiting(self) -> tuple[WaitingRecord, ...]: ...


class MemoryBackend:
    """The pool in memory."""

    def __init__(self, settings: Settings) -> None:
        self._pool = Pool(settings)
        self.submit = self._pool.submit
        self.tick = self._pool.tick
        self.withdraw = self._pool.withdraw
        self.close = self._pool.close

    def waiting(self) -> tuple[WaitingRecord, ...]:
        return tuple(self._pool.waiting())


def always(found: Any) -> Callable[[int], Awaitable[Any]]:
    """The same settings in every epoch."""

    async def of(epoch: int) -> Any:
        return found

    return of


class Store:
    """A connection to one server, with an event loop of its own."""

    def __init__(self, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        self.client = connect(url)
        self.functions = library(self.client)
        self.run(self.functions.load())

    def run(self, step: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(step)

    def close(self) -> None:
        self.run(self.client.aclose())
        self._loop.close()


class StoreBackend:
    """The pool on a store: what it did is read from the events that it appended in the same step.

    Args: store, settings; empty: empties the store, else goes on with what is there.
    """

    def __init__(self, store: Store, settings: Settings, empty: bool = True) -> None:
        self.store = store
        self.epoch = 7
        self.pool = PoolStore(store.functions, always(settings), random=bytes)
        self._read = self._formed = 0
        if empty:
            store.run(store.client.flushall())
        else:
            self.new_events(), self.new_groups()

    def submit(self, record: Record) -> Submission:
        outcome, numbers = self.store.run(self.pool.submit(self.epoch, record, payload_of(record)))
        groups = self.new_groups()
        assert [group.number for group in groups] == numbers
        expected = {"buffered": "BUFFERED", "repeated": "SUPPRESSED", "capped": "SUPPRESSED"}.get(outcome.value)
        events = self.new_events()
        assert [kind for kind, _ in events] == ([expected] if expected else [])
        assert all(header["session"] == record.id.hex() for _, header in events)
        return Submission(outcome, groups)

    def tick(self, now: float, limit: int = STEP_LIMIT) -> Step:
        step = self.store.run(self.pool.tick(self.epoch, now, limit))
        return self._step(step.moved, step.more)

    def close(self, limit: int = STEP_LIMIT) -> Step:
        step = self.store.run(self.pool.close(self.epoch, limit))
        return self._step(step.moved, step.more)

    def withdraw(self, person: str, audiences: Collection[str] | None = None) -> tuple[bytes, ...]:
        known = [name.decode() for name in self.store.run(self.store.client.zrange(self._key("aud"), 0, -1))]
        keep = [] if audiences is None else [name for name in known if name not in audiences]
        gone = self.store.run(self.pool.withdraw(self.epoch, person, keep))
        events = self.new_events()
        assert [kind for kind, _ in events] == ["WITHDRAWN"] * gone
        return tuple(bytes.fromhex(header["session"]) for _, header in events)

    def waiting(self) -> tuple[WaitingRecord, ...]:
        return tuple(self.store.run(self._waiting()))

    def new_events(self) -> list[Event]:
        """Events appended since the last look."""
        rows = self.store.run(self.store.client.xrange(f"{PREFIX}:events", min=f"{self._read + 1}-0"))
        self._read += len(rows)
        assert not rows or rows[-1][0] == f"{self._read}-0".encode()  # numbers have no gaps
        return [(fields[b"t"].decode(), json.loads(fields[b"h"])) for _, fields in rows]

    def new_groups(self) -> tuple[Group, ...]:
        """Groups formed since the last look."""
        groups = tuple(item.group for item in self.unreleased() if item.group.number > self._formed)
        self._formed += len(groups)
        return groups

    def unreleased(self) -> list[FormedGroup]:
        """Groups that were not released; each must come with the payloads of its records."""
        formed: list[FormedGroup] = self.store.run(self.pool.unreleased(self.epoch))
        for item in formed:
            assert {member.record for member in item.group.members} == set(item.payloads)
        return formed

    def keys(self) -> list[str]:
        """All keys of the epoch."""
        return sorted(key.decode() for key in self.store.run(self.store.client.keys(self._key("*"))))

    def release(self, group: Group) -> bool:
        """Mark a group released, with an empty payload and one party."""
        payload = ReleasedPayload((), (), (), ())
        return bool(self.store.run(self.pool.release(self.epoch, group, payload, [("shop", (b"record",))])))

    def _step(self, moved: int, more: bool) -> Step:
        raised, suppressed = [], []
        for kind, header in self.new_events():
            record = bytes.fromhex(header["session"])
            if kind == "RAISED":
                raised.append(Raised(record, tuple(header["source"]), tuple(header["target"])))
            else:
                assert kind == "SUPPRESSED"
                suppressed.append(Suppressed(record, Reason(header["reason"])))
        assert moved == len(raised) + len(suppressed)
        return Step(tuple(raised), tuple(suppressed), self.new_groups(), more)

    def _key(self, *parts: str) -> str:
        return ":".join((f"{PREFIX}:pool:{self.epoch}", *parts))

    async def _waiting(self) -> list[WaitingRecord]:
        client, found = self.store.client, []
        for name in await client.zrange(self._key("aud"), 0, -1):
            rows = []
            for record in await client.zrange(self._key("due", name.decode()), 0, -1):
                person, node, arrival = await client.hmget(self._key("r", "").encode() + record, "u", "n", "v")
                path = tuple(node.decode().split(SEPARATOR)) if node else ()
                rows.append(WaitingRecord(record, person.decode(), name.decode(), path, int(arrival)))
            found += sorted(rows, key=lambda row: row.arrival)
        return found


def payload_of(record: Record) -> BufferedPayload:
    """A payload for a record; the pool does not look into it."""
    return BufferedPayload(
        record.id, record.person, record.seasoned, record.audience, "general", b"opening", "test", record.path, (), 0
    )
