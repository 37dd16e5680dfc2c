"""The Main Service's state of persons' rights: each method is one atomic step of `lua/subjects.lua` (DESIGN 11)."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from main_service.store.library import KEYS, PREFIX
from main_service.store.told import Told
from proxid.evidence.events import SALT_SIZE, encode_header
from proxid.runtime.evidence_log.writer import evidence_key_name
from proxid.runtime.store import FunctionLibrary
from proxid.runtime.store.functions import named

SHOWN: Final = 2000
"""Records of a kind that a share reads at most; more would not fit an answer."""

_ROWS: Final = 8
"""Releases that one step looks through: each may be a portion of 64 entries."""


@dataclass(frozen=True, slots=True)
class HeldBySubject:
    """What is held of a PROX_ID: consent; requests answered, not yet classified; payloads of BUFFERED; places."""

    bundle: str
    version: int
    answered: tuple[bytes, ...]
    waiting: tuple[bytes, ...]
    places: int


class SubjectStore:
    """See the module; every method raises StoreError when the store is away."""

    def __init__(self, functions: FunctionLibrary, random: Callable[[int], bytes] = os.urandom) -> None:
        self._call = functions.call
        self._random = random

    async def held(self, prox_id: str, epochs: Sequence[int]) -> HeldBySubject:
        """What is held of a person in epochs."""
        bundle, version, answered, waiting, places = await self._call("ms_share", KEYS, prox_id, SHOWN, *epochs)
        return HeldBySubject(bundle.decode(), int(version), tuple(answered), tuple(filter(None, waiting)), int(places))

    async def credential(self, prox_id: str) -> bytes | None:
        """The credential behind a PROX_ID, if it was shown here."""
        found = await self._call("ms_credential_of", KEYS, prox_id)
        return None if found is None else bytes(found)

    async def is_leaving(self, prox_id: str, epochs: Sequence[int]) -> bool:
        """Whether a formed group or a tick under way holds the person."""
        return bool(await self._call("ms_leaving", KEYS, prox_id, *epochs))

    async def last_release(self, prox_id: str) -> bytes:
        """The cursor of the last release on its way to IS that holds the person, or empty; read some rows at a time."""
        after, found = b"0-0", b""
        while after:
            after, mine = await self._call("ms_outbox_of", KEYS, prox_id, after, _ROWS)
            found = mine or found
        return found

    async def waits(self, cursor: bytes) -> bool:
        """Whether IS has not taken a release yet."""
        return bool(await self._call("ms_outbox_has", KEYS, cursor))

    async def erased(self, prox_id: str, tag: bytes) -> None:
        """Remove what is left of a person and record ERASED, which names the subject tag of the evidence alone."""
        name = evidence_key_name(PREFIX, prox_id)
        await self._call(
            "ms_erased", KEYS, prox_id, name, self._random(SALT_SIZE), encode_header(tag=tag.hex())
        )  # fmt: skip

    async def given_up(self, prox_id: str, ttl: int) -> None:
        """Nothing waits under a lost key any more: for `ttl` seconds another one may take its place."""
        await self._call("ms_given_up", KEYS, prox_id, ttl)

    async def restrict(self, told: Told, lost: bool = False) -> str:
        """As `PoolStore.restrict`, of somebody whose epoch is not open: nothing waits."""
        salt, mark = self._random(SALT_SIZE), 2 if lost else 1
        place = await self._call("ms_restrict", KEYS, *named(salt=salt, mark=mark, **told.fields))
        return str(place.decode())

    async def unrestrict(self, told: Told) -> str:
        """What a person consented to counts again, unless their key was lost. Returns as `restrict`."""
        return str((await self._call("ms_unrestrict", KEYS, *named(**told.fields))).decode())
