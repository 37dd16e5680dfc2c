"""The Identity Screener's state of persons' rights: each method is one atomic step of `lua/rights.lua` (DESIGN 11)."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.store.library import GatewayStore
from gateway.store.steps import PREFIX
from proxid.evidence.events import SALT_SIZE
from proxid.runtime.evidence_log.writer import evidence_key_name
from proxid.runtime.store.functions import named
from proxid.runtime.store.pipeline import Argument

_NOTICES: Final = 64


@dataclass(frozen=True, slots=True)
class Subject:
    """A person-epoch to erase: subject tag (hexadecimal), epoch, PROX_ID; over: another key took its key's place."""

    tag: str
    epoch: int
    prox_id: str
    over: bool = False


@dataclass(frozen=True, slots=True)
class Recipient:
    """A party that may hold records of a person under a name; `records` is how many it has acknowledged."""

    party: str
    name: str
    records: int


@dataclass(frozen=True, slots=True)
class ErasureJob:
    """An erasure under way.

    Attributes:
        request, enrolment: encoded; empty once ERASED is recorded (`logged`). receipt: what the person will get then.
    """

    request: bytes
    enrolment: bytes
    logged: bool
    receipt: bytes
    subjects: tuple[Subject, ...]
    recipients: tuple[Recipient, ...]


@dataclass(frozen=True, slots=True)
class PutNotice:
    """A notice as it is stored: sealed to the party, which gets it from a time (Unix seconds) on."""

    digest: bytes
    party: str
    kind: str
    sealed: bytes
    due: int

    @property
    def row(self) -> tuple[str, str, str, bytes, int]:
        """As the store's steps take it."""
        return self.digest.hex(), self.party, self.kind, self.sealed, self.due


@dataclass(frozen=True, slots=True)
class NoticeState:
    """What became of a notice: party, kind, when it was made, the party's signed acknowledgement or empty, and when."""

    party: str
    kind: str
    made: int
    acknowledgement: bytes
    acknowledged: int


@dataclass(frozen=True, slots=True)
class RightsState:
    """`user_key` is pk_U or empty; `tombstone` empty, `1` while an erasure is under way, then the receipt."""

    user_key: bytes
    tombstone: bytes
    recipients: tuple[Recipient, ...]
    notices: tuple[NoticeState, ...]
    objects: bool


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


@dataclass(frozen=True, slots=True)
class Exercised:
    """A request that was carried out: its digest, the event's header, and the seconds for which it is remembered."""

    digest: bytes
    header: bytes
    ttl: int


SLICE: Final = 64
"""Groups in feeds that one step looks at."""


class RightsStore:
    """See the module; every method raises StoreError when the store is away."""

    def __init__(self, store: GatewayStore, random: Callable[[int], bytes] = os.urandom) -> None:
        self._call, self._coming = store.call, store.coming
        self._random = random

    def _salt(self) -> bytes:
        return self._random(SALT_SIZE)

    async def begin_erasure(self, user_tag: str, request: bytes, enrolment: bytes, user_key: bytes) -> bytes | None:
        """Set the tombstone and leave the job; the receipt if it is done, empty if not, None for an unknown user.

        A user is known by the key (pk_U) that was linked last.
        """
        found = await self._call("gw_erase_begin", user_tag, request, enrolment, user_key)
        return None if found is None else bytes(found)

    async def erasures(self) -> list[str]:
        """User tags of erasures under way."""
        return sorted(tag.decode() for tag in await self._call("gw_erase_jobs"))

    async def erasure(self, user_tag: str) -> ErasureJob:
        """An erasure under way, and what there is to erase."""
        (request, enrolment, logged, receipt), pairs, names, lost = await self._call("gw_erase_job", user_tag)
        subjects = []
        for tag, value in zip(pairs[::2], pairs[1::2], strict=True):
            epoch, _, prox_id = value.decode().partition("|")
            subjects.append(Subject(tag.decode(), int(epoch), prox_id, prox_id.encode() in lost))
        return ErasureJob(
            request or b"", enrolment or b"", logged == b"1", receipt or b"", tuple(subjects), _recipients(names)
        )

    async def credentials(self, subjects: Sequence[Subject]) -> list[bytes]:
        """The credential of each person-epoch's key; empty where it is gone."""
        return [bytes(one) for one in await self._call("gw_credentials", *(s.prox_id for s in subjects))]

    async def settle(self, user_tag: str, reason: str) -> None:
        """Drop what waits for parties under the user's name, and have nothing sent again; `reason` says why.

        Some at a time, so that the store answers others: nothing of the user goes out any more when it begins.
        """
        cursor = b"0"
        while True:
            cursor = await self._call("gw_settle", user_tag, reason, self._salt(), self._coming(), cursor, SLICE)
            if cursor == b"0":
                return

    async def finish_erasure(
        self, user_tag: str, receipt: bytes, event: tuple[bytes, bytes], parties: Sequence[str],
        subjects: Sequence[Subject], notices: Sequence[PutNotice], without: int | None = None, request: bytes = b"",
    ) -> bool:  # fmt: skip
        """Record ERASED and delete everything of the user's; False if that was done before.

        Args:
            event: header with empty lists `dropped`, `removed` and `feeds`, and an empty `last`, which the step fills;
                payload.
            without: the epoch whose contents MS is known to form without the user (form `split`).
            request: digest of the request.
        """
        header, payload = event
        rows: list[Argument] = [*parties]
        for s in subjects:
            rows += [s.tag, s.epoch, s.prox_id, evidence_key_name(PREFIX, s.prox_id)]
        rows += [item for notice in notices for item in notice.row]
        done = await self._call(
            "gw_erase_finish",
            *named(
                *rows, user_tag=user_tag, receipt=receipt, salt=self._salt(), header=header, payload=payload,
                parties=len(parties), subjects=len(subjects), without="" if without is None else without,
                request=request.hex(),
            ),
        )  # fmt: skip
        return bool(done)

    async def end_erasure(self, user_tag: str) -> None:
        """Nothing is left in any file: the receipt is the answer from here on."""
        await self._call("gw_erase_done", user_tag)

    async def object(
        self, user_tag: str, request: bytes, enrolment: bytes, digest: bytes, objects: bool = True
    ) -> bool:
        """Leave the job to tell MS of an objection, or that it is taken back; False for an unknown user.

        Nothing of who objects goes out from here on. Behind a job that is not done waits the newest request alone.
        """
        left = await self._call("gw_object", user_tag, request, enrolment, digest.hex(), int(objects))
        return left is not None

    async def carried_out(self, request: bytes) -> str | None:
        """Where the event stands (`place_of`) of a request, by its digest, that was carried out; None if it was not."""
        place = await self._call("gw_right_seen", request.hex())
        return None if place is None else str(place.decode())

    async def objected(
        self, user_tag: str, objects: bool, request: Exercised, payload: bytes, notices: Sequence[PutNotice] = (),
        without: int | None = None, told: Sequence[Subject] = (),
    ) -> str:  # fmt: skip
        """Record that an objection is in effect, or that it is taken back, once a request: the one of the job.

        Args:
            without: as `finish_erasure`. told: the user's person-epochs of the newest epoch, as MS was told of it.

        Returns:
            `NEW`, `SAME`; `UNKNOWN` for an unknown or erased user; `AGAIN` if another key was linked meanwhile.
        """
        rows = [item for notice in notices for item in notice.row]
        state = await self._call(
            "gw_objected",
            *named(
                *rows, user_tag=user_tag, objects=int(objects), request=request.digest.hex(), ttl=request.ttl,
                salt=self._salt(), header=request.header, payload=payload, without="" if without is None else without,
                told="\n".join(sorted(f"{s.epoch}|{s.prox_id}" for s in told)),
            ),
        )  # fmt: skip
        return str(state.decode())

    async def accessed(self, request: Exercised, payload: bytes) -> None:
        """Record an access, once a request."""
        await self._call("gw_accessed", self._salt(), request.header, payload, request.digest.hex(), request.ttl)

    async def held(self, user_tag: str) -> Held:
        """What IS holds of a user."""
        found: Any = await self._call("gw_share", user_tag)
        user_key, epochs, groups, objects = found
        return Held(
            bytes(user_key),
            tuple((int(e), int(v), tuple(k.decode() for k in keys if b"|" in k)) for e, keys, v in epochs),
            tuple((p.decode(), int(e), int(n), k.decode(), a == b"1", int(t or 0)) for p, e, n, k, a, t in groups),
            bool(objects),
        )  # fmt: skip

    async def status(self, user_tag: str) -> RightsState:
        """Who may hold what of a user, and what parties said to the notices that they got."""
        user_key, tombstone, names, notices, objects = await self._call("gw_rights_status", user_tag)
        return RightsState(
            bytes(user_key), bytes(tombstone), _recipients(names),
            tuple(NoticeState(p.decode(), k.decode(), int(t), bytes(a), int(at or 0)) for p, k, t, a, at in notices),
            bool(objects),
        )  # fmt: skip

    async def notices(self, party: str, now: float) -> list[tuple[str, bytes]]:
        """Notices that a party is to get now: name and sealed bytes of each."""
        found = await self._call("gw_notices", party, int(now), _NOTICES)
        return [(name.decode(), bytes(sealed)) for name, sealed in zip(found[::2], found[1::2], strict=True)]

    async def noticed(self, party: str, name: str, acknowledgement: bytes, header: bytes) -> str:
        """Record NOTICED with a party's acknowledgement; `NEW`, `SAME` or `UNKNOWN`."""
        state = await self._call(
            "gw_noticed",
            *named(party=party, id=name, acknowledgement=acknowledgement, salt=self._salt(), header=header),
        )
        return str(state.decode())


def _recipients(pairs: Sequence[bytes]) -> tuple[Recipient, ...]:
    found = []
    for field, count in zip(pairs[::2], pairs[1::2], strict=True):
        party, _, name = field.decode().partition("|")
        found.append(Recipient(party, name, int(count)))
    return tuple(sorted(found, key=lambda r: (r.party, r.name)))
