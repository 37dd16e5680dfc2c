"""The Identity Screener's state of persons' rights: each method is one atomic step of `lua/gateway.lua` (DESIGN 11)."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.store import PREFIX, GatewayStore
from proxid.evidence.events import SALT_SIZE
from proxid.store.evidence.writer import evidence_key_name


@dataclass(frozen=True, slots=True)
class Subject:
    """A person-epoch to erase: subject tag (hexadecimal), epoch, PROX_ID."""

    tag: str
    epoch: int
    prox_id: str


@dataclass(frozen=True, slots=True)
class Held:
    """What IS holds of a user.

    Attributes:
        user_key: pk_U, empty if unknown. epochs: (epoch, consent version, grants `PARTY|TYPE|FIDELITY`).
        groups: (party, epoch, group, `TYPE|FIDELITY`, acknowledged, Unix seconds or 0).
    """

    user_key: bytes
    epochs: tuple[tuple[int, int, tuple[str, ...]], ...]
    groups: tuple[tuple[str, int, int, str, bool, int], ...]
    objects: bool


class RightsStore:
    """See the module; every method raises StoreError when the store is away."""

    def __init__(self, store: GatewayStore, random: Callable[[int], bytes] = os.urandom) -> None:
        self._call = store.call
        self._random = random

    async def begin_erasure(self, user_tag: str, mark: bytes) -> tuple[bytes, list[Subject]]:
        """Set the tombstone; the mark that counts, and what there is to erase; an empty mark for an unknown user."""
        found = await self._call("gw_erase_begin", user_tag, mark)
        if not found:
            return b"", []
        mark, *pairs = found
        subjects = []
        for tag, value in zip(pairs[::2], pairs[1::2], strict=True):
            epoch, _, prox_id = value.decode().partition("|")
            subjects.append(Subject(tag.decode(), int(epoch), prox_id))
        return bytes(mark), subjects

    async def settle_erasure(self, user_tag: str, parties: Sequence[str]) -> list[str]:
        """Drop waiting groups with the user; the parties that still have one on the wire."""
        flying = await self._call("gw_settle_erasure", user_tag, self._random(SALT_SIZE), *parties)
        return [party.decode() for party in flying]

    async def finish_erasure(
        self, user_tag: str, mark: bytes, header: bytes, payload: bytes, subjects: Sequence[Subject]
    ) -> bool:
        """Record ERASED and delete links and evidence keys; False if that was done before."""
        rows = [
            item
            for s in subjects
            for item in (s.tag, s.epoch, s.prox_id, evidence_key_name(PREFIX, s.prox_id))
        ]  # fmt: skip
        done = await self._call(
            "gw_erase_finish", user_tag, mark, self._random(SALT_SIZE), header, payload, *rows
        )  # fmt: skip
        return bool(done)

    async def objected(self, user_tag: str, objects: bool, header: bytes, payload: bytes) -> bool:
        """Record an objection, or that it is taken back; False for an unknown or erased user."""
        state = await self._call("gw_object", user_tag, int(objects), self._random(SALT_SIZE), header, payload)
        return bool(state == b"NEW")

    async def accessed(self, header: bytes, payload: bytes) -> None:
        """Record an access."""
        await self._call("gw_accessed", self._random(SALT_SIZE), header, payload)

    async def held(self, user_tag: str, parties: Sequence[str]) -> Held:
        """What IS holds of a user."""
        found: Any = await self._call("gw_share", user_tag, *parties)
        user_key, epochs, groups, objects = found
        return Held(
            bytes(user_key),
            tuple((int(e), int(v), tuple(k.decode() for k in keys if b"|" in k)) for e, keys, v in epochs),
            tuple((p.decode(), int(e), int(n), k.decode(), a == b"1", int(t or 0)) for p, e, n, k, a, t in groups),
            bool(objects),
        )  # fmt: skip
