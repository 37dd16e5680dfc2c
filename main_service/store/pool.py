"""The pool of mode `mix` on the store: each method is one step of `lua/pool.lua`, `formed.lua` or `service.lua`."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from main_service.store.counts import UNKNOWN
from main_service.store.library import KEYS
from main_service.store.told import Told
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Group, Member, Outcome, Record, Rung
from proxid.crypto.sansig import SignedMessage
from proxid.encoding import encode
from proxid.errors import ConsentError, InputError, PoolClosedError
from proxid.evidence.events import SALT_SIZE, BufferedPayload, ReleasedPayload, encode_header
from proxid.runtime.store import FunctionLibrary
from proxid.runtime.store.functions import named
from proxid.runtime.store.pipeline import Argument

SEPARATOR: Final = "\x1f"
STEP_LIMIT: Final = 256
UNIT_SIZE: Final = 16
CLOSED_FOR: Final = 30 * 86_400
"""Seconds for which a forgotten epoch is still known to be closed."""
_OUTBOX_FIELDS: Final = 6

SettingsOf = Callable[[int], Awaitable[Settings]]
"""The settings of an epoch."""


@dataclass(frozen=True, slots=True)
class FormedGroup:
    """A group that formed and was not released yet, with the payload of each record by id."""

    group: Group
    payloads: Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True)
class StoreStep:
    """What a bounded step did: how many records moved or left, and whether more is due."""

    moved: int
    more: bool


class PoolStore:
    """One pool an epoch; every method raises StoreError when the store is away or full.

    Args:
        settings: of the mix, by epoch. random: source of salts.
    """

    def __init__(
        self, functions: FunctionLibrary, settings: SettingsOf, random: Callable[[int], bytes] = os.urandom
    ) -> None:
        self._functions = functions
        self._settings = settings
        self._random = random

    async def _call(self, function: str, epoch: int, *rows: Argument, **fields: Argument) -> Any:
        """One step on the pool of an epoch, by its settings."""
        s = await self._settings(epoch)
        records, seconds, cap = (-1 if v is None else v for v in (s.max_delay_records, s.max_delay_s, s.person_cap))
        settings = named(
            epoch=epoch, n=s.n, level=s.level, max_records=records, max_seconds=seconds, threshold=s.text_threshold,
            cap=cap, unseasoned_cap=s.unseasoned_cap, width=s.time_bucket_s, salts=self._random(SALT_SIZE),
        )  # fmt: skip
        return await self._functions.call(function, KEYS, *settings, *named(*rows, **fields))

    @staticmethod
    def _record(epoch: int, record: Record, payload: BufferedPayload) -> dict[str, Argument]:
        if any(SEPARATOR in part or not part for part in record.path):
            raise InputError("a category path has an empty component or a control character")
        if any(len(unit) != UNIT_SIZE for unit in record.units):
            raise InputError("digests of texts and units have 16 bytes")
        return {
            "id": record.id,
            "person": record.person,
            "seasoned": int(record.seasoned),
            "audience": record.audience,
            "path": SEPARATOR.join(record.path),
            "units": b"".join(record.units),
            "time": repr(record.time),
            "payload": payload.encode(),
            "header": encode_header(epoch=epoch, session=record.id.hex()),
        }

    async def submit(self, epoch: int, record: Record, payload: BufferedPayload) -> tuple[Outcome, list[int]]:
        """Buffer or withhold a record and form the groups that it completes; the numbers of those groups.

        Raises:
            PoolClosedError: the epoch was closed. InputError: the person's season changed within the epoch.
        """
        return _outcome(await self._call("ms_pool_submit", epoch, **self._record(epoch, record, payload)))

    async def log(self, epoch: int, version: int, record: Record, payload: BufferedPayload) -> str:
        """Take an answered request into the pool, unless its consent changed or its epoch is over; its fate."""
        fields = self._record(epoch, record, payload)
        result = await self._call("ms_log", epoch, **fields, version=version, salt=self._random(SALT_SIZE))
        return str(result[0].decode())

    async def suppress(self, session: bytes, reason: str, kind: str = UNKNOWN, pipeline: str = "") -> None:
        """An answered request of a type is not logged; nothing of it stays but the reason, and what read it."""
        asked = (session, self._random(SALT_SIZE), kind, reason, *((pipeline,) if pipeline else ()))
        await self._functions.call("ms_suppress", KEYS, *asked)

    async def tick(self, epoch: int, now: float, limit: int = STEP_LIMIT) -> StoreStep:
        """Move up, or at the root suppress, at most `limit` records that waited too long."""
        result = await self._call("ms_pool_tick", epoch, now=repr(now), limit=limit)
        return StoreStep(int(result[0]), bool(result[1]))

    async def withdraw(self, epoch: int, person: str, keep: Sequence[str] = ()) -> int:
        """Remove a person's waiting records from all audiences but those to keep; how many."""
        return int(await self._call("ms_pool_withdraw", epoch, *keep, person=person))

    async def erase(self, epoch: int, person: str) -> int:
        """Remove what waits of a person in an epoch, and what was counted of it; how many records."""
        return int(await self._call("ms_erase", epoch, prox_id=person, salt=self._random(SALT_SIZE)))

    async def restrict(self, epoch: int, told: Told, lost: bool = False) -> str:
        """Log nothing of a person any more, and remove what waits in an open epoch, with RESTRICTED.

        Args:
            lost: their key was.

        Returns:
            Where RESTRICTED stands (`place_of`), that of the same word if it was heeded before; empty if there is none.
        """
        salt, mark = self._random(SALT_SIZE), 2 if lost else 1
        return str((await self._call("ms_restrict", epoch, salt=salt, mark=mark, **told.fields)).decode())

    async def close(self, epoch: int, limit: int = STEP_LIMIT) -> StoreStep:
        """End the epoch: nothing more enters, and at most `limit` waiting records are suppressed."""
        result = await self._call("ms_pool_close", epoch, limit=limit)
        return StoreStep(int(result[0]), bool(result[1]))

    async def forget(self, epoch: int) -> bool:
        """Remove what is left of a closed epoch; False while records wait or groups are to be released."""
        return bool(await self._call("ms_pool_forget", epoch, seconds=CLOSED_FOR))

    async def unreleased(self, epoch: int) -> list[FormedGroup]:
        """Groups that formed and were not released, in order: also what a crash left between the two."""
        return [_formed(*row) for row in await self._call("ms_pool_unreleased", epoch)]

    async def release(
        self, epoch: int, group: Group, payload: ReleasedPayload, parties: Sequence[tuple[str, tuple[bytes, ...]]]
    ) -> bool:
        """Record RELEASED and put the group into the outbox of each party, once; False if it was done before."""
        header = encode_header(
            audience=group.audience, epoch=epoch, group=group.number, node=list(group.node), raised=group.raised
        )
        outbox = [item for party, records in parties for item in (party, encode(*records))]
        done = await self._call(
            "ms_pool_release", epoch, *outbox, number=group.number, header=header, payload=payload.encode()
        )
        return bool(done)

    async def withhold(self, epoch: int, group: Group, reason: str = "restriction") -> None:
        """Give a formed group up as a whole: it breaks an invariant."""
        await self._call("ms_pool_withhold", epoch, number=group.number, reason=reason)

    async def consent(
        self, epoch: int, prox_id: str, consent: SignedMessage, choice: tuple[str, int],
        record: tuple[bytes, bytes], audiences: Sequence[str], ttl: int,
    ) -> tuple[bytes, str]:  # fmt: skip
        """Put a bundle into effect, remove waiting records of audiences that it no longer has; record CONSENT.

        Args:
            choice: bundle, version. record: acknowledgement, payload of CONSENT. audiences: those still allowed.

        Returns:
            The acknowledgement: the given one, or the stored one if this very message was handled before; and where
            CONSENT stands (`place_of`).

        Raises:
            ConsentError: not the next version.
        """
        bundle, version = choice
        acknowledgement, payload = record
        result = await self._call(
            "ms_consent", epoch, *audiences, prox_id=prox_id, message=consent.session_id, bundle=bundle,
            version=version, acknowledgement=acknowledgement, ttl=ttl, salt=self._random(SALT_SIZE),
            header=encode_header(epoch=epoch, version=version, message=consent.session_id.hex()), payload=payload,
        )  # fmt: skip
        if result[0] == b"STALE":
            raise ConsentError("consent is not the next version")
        return bytes(result[1]), str(result[2].decode())


def _outcome(result: list[Any]) -> tuple[Outcome, list[int]]:
    state = result[0].decode()
    if state == "CLOSED":
        raise PoolClosedError("the epoch is closed")
    if state == "UNSTEADY":
        raise InputError("a person is either seasoned or not for a whole epoch")
    return Outcome(state), [int(number) for number in result[1:]]


def _formed(
    number: bytes, audience: bytes, node: bytes, raised: bytes, bucket: bytes, rows: list[bytes]
) -> FormedGroup:
    members, payloads = [], {}
    for i in range(0, len(rows), _OUTBOX_FIELDS):
        record, person, seasoned, rung, unit, payload = rows[i : i + _OUTBOX_FIELDS]
        index = int(unit)
        members.append(
            Member(record, person.decode(), seasoned == b"1", Rung(rung.decode()), None if index < 0 else index)
        )
        payloads[record] = payload
    path = tuple(node.decode().split(SEPARATOR)) if node else ()
    group = Group(int(number), audience.decode(), path, raised == b"1", int(bucket), tuple(members))
    return FormedGroup(group, payloads)
