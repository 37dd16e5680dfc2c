"""Form `split` on the store: each method is one atomic step of `lua/split.lua` (DESIGN 8.11).

What a tick takes is decided in the step. What of it goes out, and all that a close decides, is worked out from what
stands still then, slice by slice, so that a crash repeats the same and no request waits for it.
"""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from main_service.store.library import KEYS
from main_service.store.pool import CLOSED_FOR, SEPARATOR
from proxid.anonymise.split.settings import MIN_NODES, SplitSettings
from proxid.anonymise.split.ticks import node_of
from proxid.anonymise.split.types import Node, Suppressed
from proxid.encoding import encode
from proxid.errors import InputError
from proxid.evidence.events import SALT_SIZE, BufferedPayload, EventType, encode_header
from proxid.runtime.store import FunctionLibrary
from proxid.runtime.store.functions import named

SLICE: Final = 256
"""Records that one step reads or gives up."""


@dataclass(frozen=True, slots=True)
class Lot:
    """Records at one node that wait, or that a tick took.

    Attributes:
        tick: that took them; 0 if they wait. name: under which they lie. opened: whether the node is open.
    """

    tick: int
    audience: str
    node: Node
    name: bytes
    opened: bool


@dataclass(frozen=True, slots=True)
class SplitState:
    """One epoch: the last tick, whether its entries are still on their way out, whether it was the close; audiences."""

    tick: int
    busy: bool
    closed: bool
    audiences: tuple[str, ...]
    lots: tuple[Lot, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A record that is held: its session, its person, whether it stands in no round."""

    id: bytes
    person: str
    taken_back: bool


class SplitStore:
    """Every method raises StoreError when the store is away or full.

    Args:
        random: source of salts.
    """

    def __init__(self, functions: FunctionLibrary, random: Callable[[int], bytes] = os.urandom) -> None:
        self._call = functions.call
        self._random = random

    def _salt(self) -> bytes:
        return self._random(SALT_SIZE)

    async def log(self, epoch: int, version: int, payload: BufferedPayload, settings: SplitSettings) -> str:
        """Let the record of an answered request wait, unless its consent changed or its epoch is over; its fate."""
        if any(SEPARATOR in part or not part for part in payload.path):
            raise InputError("a category path has an empty component or a control character")
        data, session = payload.encode(), payload.session
        header = encode_header(epoch=epoch, session=session.hex())
        node = SEPARATOR.join(node_of(payload.path, settings))
        result = await self._call(
            "ms_split_log", KEYS,
            *named(
                epoch=epoch, salts=self._salt(), session=session, version=version,
                person=payload.prox_id, audience=f"{payload.kind}|{payload.audience}", node=node,
                payload=data, header=header,
            ),
        )  # fmt: skip
        return str(result.decode())

    async def tick(self, epoch: int, tick: int, settings: SplitSettings, now: float) -> bool:
        """Take what may leave at a tick; False if the tick was before, or the last one is still under way.

        Args:
            now: Unix seconds, which the event says.
        """
        lot = (epoch, self._salt(), tick, settings.n, MIN_NODES, int(now * 1000))
        return bool(await self._call("ms_split_tick", KEYS, *lot))

    async def close(self, epoch: int, settings: SplitSettings, now: float) -> bool:
        """End the epoch: nothing enters and nothing is taken back any more; False if the last tick is under way."""
        return bool(await self._call("ms_split_close", KEYS, epoch, self._salt(), settings.ticks, int(now * 1000)))

    async def state(self, epoch: int, settings: SplitSettings) -> SplitState:
        """Where an epoch stands, and what it holds, by node."""
        tick, busy, closed, audiences, taken, waiting = await self._call("ms_split_state", KEYS, epoch, settings.n)
        lots = [_lot(name, b"f:" + name, True) for name in taken]
        for place, opened in zip(waiting[::2], waiting[1::2], strict=True):
            lots.append(_lot(b"0:" + place, b"w:" + place, opened == b"1"))
        names = tuple(sorted(name.decode() for name in audiences))
        return SplitState(int(tick), busy == b"1", closed == b"1", names, tuple(lots))

    async def held(self, epoch: int, lot: Lot) -> AsyncIterator[list[Held]]:
        """The records of a lot in order of arrival, slice by slice."""
        first = 0
        while True:
            rows = await self._call("ms_split_ids", KEYS, epoch, lot.name, first, first + SLICE - 1)
            yield [Held(rows[i], rows[i + 1].decode(), rows[i + 2] == b"1") for i in range(0, len(rows), 3)]
            if len(rows) < 3 * SLICE:
                return
            first += SLICE

    async def payloads(self, epoch: int, records: Sequence[bytes]) -> list[BufferedPayload]:
        """What was buffered of records."""
        found: list[BufferedPayload] = []
        for at in range(0, len(records), SLICE):
            rows = await self._call("ms_split_payloads", KEYS, epoch, *records[at : at + SLICE])
            found += [BufferedPayload.decode(row) for row in rows]
        return found

    async def release(
        self, epoch: int, place: tuple[int, str], event: tuple[EventType, bytes, bytes],
        parties: Sequence[tuple[str, tuple[bytes, ...]]],
    ) -> bool:  # fmt: skip
        """Record what goes out, with its event, and put it into the outbox of each party, once.

        Args:
            place: number and audience of the portion or contents. event: its type, header and payload.

        Returns:
            False if it was done before.
        """
        kind, header, payload = event
        outbox = [item for party, records in parties for item in (party, encode(*records))]
        done = await self._call(
            "ms_split_release", KEYS,
            *named(
                *outbox, epoch=epoch, salts=self._salt(), number=place[0], audience=place[1], type=kind.value,
                header=header, payload=payload,
            ),
        )  # fmt: skip
        return bool(done)

    async def suppress(self, epoch: int, tick: int, gone: Sequence[Suppressed]) -> None:
        """Give up records at the close, each once."""
        for at in range(0, len(gone), SLICE):
            items = [item for one in gone[at : at + SLICE] for item in (one.record.id, one.reason.value)]
            await self._call("ms_split_suppress", KEYS, epoch, self._salt(), tick, *items)

    async def done(self, epoch: int, tick: int) -> None:
        """Everything of a tick is in the outbox."""
        await self._call("ms_split_done", KEYS, epoch, tick)

    async def forget(self, epoch: int) -> bool:
        """Remove what is left of a closed epoch; False while there is something to do."""
        return bool(await self._call("ms_split_forget", KEYS, epoch, CLOSED_FOR))


def _lot(place: bytes, name: bytes, opened: bool) -> Lot:
    tick, _, where = place.decode().partition(":")
    audience, *node = where.split(SEPARATOR)
    return Lot(int(tick), audience, tuple(node), name, opened)
