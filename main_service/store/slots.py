"""Slots of location queries and commands on the store: steps of `lua/slots.lua` around one pure function (DESIGN 8.8).

A close reads what is due, decides with `proxid.anonymise.slotted.closing.close`, and applies the decision in one atomic
step, which refuses it if a withdrawal came in between; then it is decided anew.
"""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from main_service.store.library import KEYS
from main_service.store.pool import CLOSED_FOR
from proxid.anonymise.slotted.closing import close, enter
from proxid.anonymise.slotted.types import Closing, SlotGroup, SlotRecord, SlotSettings, Waiting
from proxid.anonymise.split.draws import Draws
from proxid.encoding import decode, decode_int, decode_text, encode
from proxid.evidence.events import SALT_SIZE, BufferedPayload, ReleasedPayload, encode_header
from proxid.protocol.epochs import Epochs
from proxid.protocol.record import group_number
from proxid.runtime.store import FunctionLibrary
from proxid.runtime.store.functions import named
from proxid.runtime.store.pipeline import Argument

KINDS: Final = ("location", "command")
SEPARATOR: Final = "\x1f"

SlotSettingsOf = Callable[[int], Awaitable[Mapping[str, SlotSettings]]]
"""The settings of an epoch by kind."""
DrawsOf = Callable[[int], Awaitable[Draws]]
"""The lots of an epoch."""


@dataclass(frozen=True, slots=True)
class FormedSlotGroup:
    """A group that formed at a close and was not released yet, with the payload of each record by id.

    Attributes:
        number: in its kind and epoch. closed: the time of the close, Unix seconds.
    """

    number: int
    group: SlotGroup
    closed: str
    payloads: Mapping[bytes, bytes]


class SlotStore:
    """One set of slots an epoch and kind; every method raises StoreError when the store is away or full.

    Args:
        settings: of each kind, by epoch. draws: by epoch. epochs: when each epoch ends. random: source of salts.
    """

    def __init__(
        self, functions: FunctionLibrary, settings: SlotSettingsOf, draws: DrawsOf, epochs: Epochs,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:  # fmt: skip
        self._functions = functions
        self._settings = settings
        self._draws = draws
        self._epochs = epochs
        self._random = random

    def _salt(self) -> bytes:
        return self._random(SALT_SIZE)

    async def log(
        self, epoch: int, version: int, record: SlotRecord, payload: BufferedPayload, spent: bool = False
    ) -> str:  # fmt: skip
        """Take an answered request into its slot, or the first one still open.

        Args:
            spent: its place is one more than the person may report: it is withheld, and the event holds it.

        Returns:
            Its fate, as the evidence names it; `late` if the epoch has no open slot any more: nothing was done.
        """
        state, *rest = await self._log(epoch, version, record, payload, spent)
        if state == b"LATE":  # its slot has closed: it counts as of the close
            late = record._replace(time=float(rest[0]))
            moved = payload.at(int(float(rest[0]) * 1000))
            state, *_ = await self._log(epoch, version, late, moved)
        return str(state.decode()).lower()

    async def _log(
        self, epoch: int, version: int, record: SlotRecord, payload: BufferedPayload, spent: bool = False
    ) -> list[bytes]:  # fmt: skip
        kind, session = payload.kind, record.id.hex()
        settings = (await self._settings(epoch))[kind]
        waiting = enter(record, 0, settings, self._epochs.end(epoch))
        result: list[bytes] = await self._functions.call(
            "ms_slot_log", KEYS,
            *named(
                epoch=epoch, kind=kind, salts=self._salt(), session=record.id, version=version, salt=self._salt(),
                person=record.person, audience=record.audience, record=_encode(record), depth=waiting.depth,
                starts=repr(waiting.start), ends=repr(waiting.end), payload=payload.encode(),
                one_each=int(not settings.rounds), spent=int(spent),
                header=encode_header(epoch=epoch, kind=kind, session=session),
            ),
        )  # fmt: skip
        return result

    async def close(self, epoch: int, kind: str, now: float) -> Closing:
        """Close every slot that ended by `now`; what was done.

        Groups of an earlier close must be out: the auditor replays closes in the order of their events.
        """
        settings, end = (await self._settings(epoch))[kind], float(self._epochs.end(epoch))
        place = (await self._draws(epoch)).place
        while True:
            revision, *rows = await self._functions.call("ms_slot_due", KEYS, epoch, kind, repr(now))
            due = [_waiting(rows[i : i + 3], settings, end) for i in range(0, len(rows), 3)]
            done = close(due, now, settings, end, place)
            if not (done.groups or done.lifted or done.given_up):
                return done
            if await self._apply(epoch, kind, revision, now, done):
                return done

    async def _apply(self, epoch: int, kind: str, revision: bytes, now: float, done: Closing) -> bool:
        rows: list[Argument] = []
        for waiting, source in done.lifted:
            header = encode_header(
                close=repr(now), epoch=epoch, kind=kind, session=waiting.record.id.hex(), source=list(source),
                target=list(waiting.node),
            )  # fmt: skip
            rows += [waiting.record.id, waiting.depth, repr(waiting.end), header]
        for record, reason in done.given_up:
            rows += [record.id, reason.value]
        for group in done.groups:
            ids = [record.id for record in group.members]
            rows += [group.audience, SEPARATOR.join(group.node), repr(group.start), repr(group.end)]
            rows += [int(group.diverse), len(ids), *ids]
        applied = await self._functions.call(
            "ms_slot_close", KEYS,
            *named(
                *rows, epoch=epoch, kind=kind, salts=self._salt(), revision=revision, now=repr(now),
                moves=len(done.lifted), given_up=len(done.given_up), groups=len(done.groups),
            ),
        )  # fmt: skip
        return bool(applied)

    async def end(self, epoch: int, kind: str) -> None:
        """Close every slot of an epoch that is over; nothing enters any more."""
        await self._functions.call("ms_slot_end", KEYS, epoch, kind)
        await self.close(epoch, kind, float(self._epochs.end(epoch)))

    async def forget(self, epoch: int, kind: str) -> bool:
        """Remove what is left of an ended epoch; False while groups are to be released."""
        return bool(await self._functions.call("ms_slot_forget", KEYS, epoch, kind, CLOSED_FOR))

    async def unreleased(self, epoch: int, kind: str) -> list[FormedSlotGroup]:
        """Groups that formed and were not released, in order."""
        return [_formed(*row) for row in await self._functions.call("ms_slot_unreleased", KEYS, epoch, kind)]

    async def release(
        self, epoch: int, kind: str, formed: FormedSlotGroup, payload: ReleasedPayload,
        parties: Sequence[tuple[str, tuple[bytes, ...]]],
    ) -> bool:  # fmt: skip
        """Record RELEASED and put the group into the outbox of each party, once; False if it was done before."""
        number = group_number(kind, formed.number)
        header = encode_header(
            audience=formed.group.audience, close=formed.closed, epoch=epoch, group=number, kind=kind,
            node=list(formed.group.node),
        )  # fmt: skip
        outbox = [item for party, records in parties for item in (party, encode(*records))]
        done = await self._functions.call(
            "ms_slot_release", KEYS,
            *named(
                *outbox, epoch=epoch, kind=kind, salts=self._salt(), number=formed.number, group=number, header=header,
                payload=payload.encode(),
            ),
        )  # fmt: skip
        return bool(done)

    async def withhold(self, epoch: int, kind: str, formed: FormedSlotGroup, reason: str = "restriction") -> None:
        """Give a formed group up as a whole: it breaks an invariant."""
        ids = [record.id for record in formed.group.members]
        await self._functions.call(
            "ms_slot_withhold", KEYS,
            *named(
                *ids, epoch=epoch, kind=kind, salts=self._salt(), number=formed.number, close=formed.closed,
                reason=reason,
            ),
        )  # fmt: skip


def _encode(record: SlotRecord) -> bytes:
    return encode(
        record.id, record.person, int(record.seasoned), record.audience, encode(*record.path), record.intent,
        repr(record.time), repr(record.floor),
    )  # fmt: skip


def _decode(data: bytes) -> SlotRecord:
    identity, person, seasoned, audience, path, intent, time, floor = decode(data, 8)
    return SlotRecord(
        identity, decode_text(person), bool(decode_int(seasoned)), decode_text(audience),
        tuple(decode_text(part) for part in decode(path)), decode_text(intent), float(time), float(floor),
    )  # fmt: skip


def _waiting(row: Sequence[bytes], settings: SlotSettings, epoch_end: float) -> Waiting:
    record = _decode(row[0])
    entered = enter(record._replace(path=record.path[: int(row[2])]), int(row[1]), settings, epoch_end)
    return entered._replace(record=record)


def _formed(
    number: bytes, audience: bytes, node: bytes, start: bytes, end: bytes, diverse: bytes, closed: bytes,
    rows: list[bytes],
) -> FormedSlotGroup:  # fmt: skip
    members = tuple(_decode(rows[i]) for i in range(0, len(rows), 2))
    payloads = {record.id: rows[2 * i + 1] for i, record in enumerate(members)}
    group = SlotGroup(
        audience.decode(), tuple(node.decode().split(SEPARATOR)), float(start), float(end), members, diverse == b"1"
    )
    return FormedSlotGroup(int(number), group, closed.decode(), payloads)
