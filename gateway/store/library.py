"""The Identity Screener's state: each method is one atomic step of `lua/gateway.lua` (DESIGN 5.2, 7, 9, 12)."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from redis.asyncio import Redis

from proxid.crypto.hpke import OpeningKey
from proxid.errors import (
    ConsentError,
    NameAlikeError,
    NonceReplayError,
    ObjectedError,
    RateLimitError,
    RecordMismatchError,
    RegistrationError,
)
from proxid.evidence.events import SALT_SIZE, EpochOpened, EventType, decode_header, encode_header, session_header
from proxid.evidence.ratchet import owner_commitment, owner_salt, subject_tag
from proxid.runtime.evidence_log.writer import evidence_key_name
from proxid.runtime.store import FunctionLibrary
from proxid.runtime.store.connection import store_errors

PREFIX: Final = "{gw}"
_KEYS: Final = (PREFIX,)
DURABLE: Final = frozenset({
    "gw_consent", "gw_consent_acknowledged", "gw_erase_begin", "gw_erase_done", "gw_erase_finish", "gw_object",
    "gw_objected", "gw_open_epoch",
})  # fmt: skip
"""Steps that are on disk before anybody is told of them: consents, objections, tombstones, epochs."""
_SOURCES: Final = (
    ("proxid.runtime.store", "events.lua"),
    ("gateway.store", "gateway.lua"),
    ("gateway.store", "rights.lua"),
)


@dataclass(frozen=True, slots=True)
class Registration:
    """A live epoch key and whose it is."""

    user_id: str
    user_tag: str
    epoch: int
    prox_id: str
    seasoned: bool
    link: bytes
    credential: bytes


@dataclass(frozen=True, slots=True)
class Person:
    """The user behind a PROX_ID; `user_tag` is empty if there is none (any more)."""

    user_id: str
    user_tag: str
    epoch: int


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """A group in a party's feed; `records` is the encoded sequence of pairs."""

    cursor: int
    epoch: int
    group: int
    records: bytes


class GatewayStore:
    """See the module; every method raises StoreError when the store is away or full."""

    def __init__(self, client: Redis, random: Callable[[int], bytes] = os.urandom) -> None:
        self._functions = FunctionLibrary(client, "proxid_gw", _SOURCES, DURABLE)
        self._random = random
        self.client = client

    async def open(self) -> None:
        """Load the functions."""
        await self._functions.load()

    async def expire_feeds(self, parties: Sequence[str], now: float) -> int:
        """Remove acknowledged groups whose time is over, and record that; how many."""
        return int(await self.call("gw_expire_feeds", self._salt(), int(now), *parties))

    async def epoch(self, epoch: int) -> bytes | None:
        """MS's signed key of an epoch that is or was open here; None if it was not, or is forgotten."""
        return cast("bytes | None", await self.call("gw_epoch", epoch))

    async def open_epoch(
        self, epoch: int, opened: EpochOpened, ttl: int, until: int, parties: Sequence[str] = ()
    ) -> bytes:  # fmt: skip
        """Keep MS's signed key of an epoch for `ttl` seconds and record EPOCH_OPENED, once; the key that is kept.

        Args:
            until: Unix seconds at which links of the epoch expire. parties: of whose feeds the event says what waits.
        """
        header = encode_header(**decode_header(opened.header), feeds=[], last="")
        kept = await self.call(
            "gw_open_epoch", epoch, opened.key, ttl, self._salt(), header, opened.payload, until, *parties
        )
        return bytes(kept)

    async def expire_links(self, now: float) -> int:
        """Record which epochs' links expire by a time, each once; how many epochs."""
        return int(await self.call("gw_expire_links", self._salt(), int(now)))

    async def drop_left(self, party: str) -> int:
        """Drop what waits for a party that left and is not on the wire; how many groups still are."""
        return int(await self.call("gw_drop_left", party, self._salt()))

    async def call(self, function: str, *arguments: bytes | str | int) -> Any:
        """One atomic step by its name: for the parts of this service that have steps of their own."""
        return await self._functions.call(function, _KEYS, *arguments)

    def _salt(self) -> bytes:
        return self._random(SALT_SIZE)

    async def link(
        self, key_tag: str, person: Registration, user_key: bytes, ttl: int, payloads: tuple[bytes, bytes],
        evidence: OpeningKey, forms: Sequence[str] = (),
    ) -> bool:  # fmt: skip
        """Register an epoch key; False if the very same link was there. Raises RegistrationError, NameAlikeError.

        Args:
            payloads: of ENROLLED and LINKED. evidence: the person-epoch's, kept until erasure or `ttl` seconds.
            forms: of a new person's name; each must be nobody else's (`gateway.names`).
        """
        enrolled, linked = payloads
        owner = owner_commitment(person.user_id, owner_salt(evidence.seed))
        header = encode_header(epoch=person.epoch, owner=owner.hex())
        state = await self._functions.call(
            "gw_link", _KEYS, key_tag, person.user_tag, person.epoch, person.prox_id, person.user_id, user_key,
            int(person.seasoned), person.link, person.credential, ttl,
            self._salt(), b"{}", enrolled, self._salt(), header, linked,
            subject_tag(evidence.public.data).hex(), evidence.seed,
            evidence_key_name(PREFIX, person.prox_id), evidence.public.data, *forms,
        )  # fmt: skip
        if state == b"ALIKE":
            raise NameAlikeError("the name looks like that of somebody who is registered")
        reasons = {
            b"ERASED": "user is erased",
            b"TAKEN": "epoch key was registered before",
            b"LIVE": "user has a live epoch key for this epoch",
        }
        if state in reasons:
            raise RegistrationError(reasons[state])
        return bool(state == b"NEW")

    async def evidence_keys(self, tags: Sequence[bytes]) -> list[bytes]:
        """The private evidence keys of subject tags, empty where there is none (any more)."""
        if not tags:
            return []
        with store_errors():
            found: Any = await self.client.mget([f"{PREFIX}:ek:{tag.hex()}" for tag in tags])
        return [bytes(seed or b"") for seed in found]

    async def registration(self, key_tag: str) -> Registration:
        """The live registration of an epoch key; raises RegistrationError."""
        fields = await self._functions.call("gw_registration", _KEYS, key_tag)
        if not fields:
            raise RegistrationError("epoch key is not registered")
        user_id, tag, epoch, prox, seasoned, link, credential = fields
        return Registration(
            user_id.decode(), tag.decode(), int(epoch), prox.decode(), seasoned == b"1", link, credential
        )

    async def forward(
        self, key_tag: str, nonce_tag: str, session: bytes, payload: bytes, now: float, limits: tuple[int, int]
    ) -> bytes | None:
        """Checks 3, 5 and 6 of 5.2 and FORWARDED, in one step; the stored answer if there is one.

        Args:
            limits: nonce time to live in seconds, requests a minute.

        Raises:
            RegistrationError, NonceReplayError, RateLimitError.
        """
        header = session_header(session)
        result = await self._functions.call(
            "gw_forward", _KEYS, key_tag, nonce_tag, session, int(now), *limits, self._salt(), header, payload
        )
        state = result[0]
        if state == b"UNREGISTERED":
            raise RegistrationError("epoch key is not registered")
        if state == b"REPLAYED":
            raise NonceReplayError("nonce was used before for another message")
        if state == b"RATE":
            raise RateLimitError("user sends more requests than allowed")
        return bytes(result[1]) if state == b"ANSWERED" else None

    async def answered(self, session: bytes, answer: bytes, payload: bytes, ttl: int, user_tag: str) -> bytes:
        """Store the answer and record ANSWERED, once; the answer that is stored."""
        header = session_header(session)
        earlier = await self._functions.call(
            "gw_answered", _KEYS, session, answer, ttl, self._salt(), header, payload, user_tag
        )
        return answer if earlier is None else bytes(earlier)

    async def unreached(self, session: bytes) -> None:
        """Record that MS could not be reached for a session, unless it has been settled."""
        await self._functions.call("gw_unreached", _KEYS, session, self._salt(), session_header(session))

    async def settled(self, session: bytes) -> None:
        """MS refused the session, and has recorded it."""
        await self._functions.call("gw_settled", _KEYS, session)

    async def open_sessions(self, until: float = math.inf, limit: int = 1000) -> list[bytes]:
        """Sessions forwarded until a time (Unix seconds) that are not settled, the oldest first."""
        latest = "+inf" if math.isinf(until) else int(until)
        return list(await self._functions.call("gw_open", _KEYS, limit, latest))

    async def refused(self, rule: str, session: bytes) -> None:
        """Record REFUSED with the rule's code; for authentic messages only."""
        header = encode_header(rule=rule, session=session.hex())
        await self._functions.call("gw_refused", _KEYS, self._salt(), header)

    async def people(self, prox_ids: Sequence[str]) -> list[Person]:
        """The users behind PROX_IDs."""
        found = await self._functions.call("gw_people", _KEYS, *prox_ids)
        return [
            Person(found[i].decode(), found[i + 1].decode(), int(found[i + 2] or 0)) for i in range(0, len(found), 3)
        ]

    async def consent(
        self, user_tag: str, epoch: int, version: int, payload: bytes, grants: Sequence[str], ttl: int
    ) -> None:
        """Put a consent vector into effect and record CONSENT; the same vector again is harmless.

        Args:
            grants: `PARTY|TYPE|FIDELITY`, all that is allowed from now on.

        Raises:
            ConsentError: not the next version. RegistrationError: the user is erased.
        """
        header = encode_header(epoch=epoch, version=version, phase="received")
        state = await self._functions.call(
            "gw_consent", _KEYS, user_tag, epoch, version, ttl, self._salt(), header, payload, *grants
        )
        if state == b"ERASED":
            raise RegistrationError("user is erased")
        if state == b"OBJECTED":
            raise ObjectedError("user has objected to any passing on")
        if state == b"STALE":
            raise ConsentError("consent is not the next version")

    async def close_streams(self, parties: Sequence[str]) -> None:
        """Ask whoever streams to these parties to stop."""
        await self._functions.call("gw_close_streams", _KEYS, *parties)

    async def closings(self, party: str) -> int:
        """How often the party's streams were asked to stop."""
        return int(await self._functions.call("gw_closings", _KEYS, party))

    async def reset_streams(self, parties: Sequence[str]) -> None:
        """At start, before any stream: nothing is on the wire."""
        await self._functions.call("gw_reset_streams", _KEYS, *parties)

    async def consent_acknowledged(self, epoch: int, version: int, message: bytes, payload: bytes) -> None:
        """Record MS's acknowledgement of a consent message, which its hash names."""
        header = encode_header(epoch=epoch, version=version, phase="acknowledged", message=message.hex())
        await self._functions.call("gw_consent_acknowledged", _KEYS, self._salt(), header, payload)

    async def append(
        self, party: str, place: tuple[int, int], grant: str, records: bytes, release: int,
        members: Sequence[tuple[str, str]], aliases: Sequence[bytes] = (), alias_ttl: int = 0, reason: str = "",
    ) -> str:  # fmt: skip
        """Append a group to a feed, or drop it whole.

        Args:
            place: epoch, group. grant: `TYPE|FIDELITY`. release: MS's cursor, each handled once.
            members: user tag, empty for an unknown person, and the name that each is published under.
            aliases: of each member the payload of ALIASED, if names are aliases. alias_ttl: seconds they are in use.
            reason: why it must be dropped, if it must.

        Returns:
            `NEW`, `DROPPED`, or `SAME` if this release was handled before.
        """
        arguments: list[bytes | str | int] = [party, *place, grant, records, release, self._salt(), reason, alias_ttl]
        arguments += [len(members), *(item for member in members for item in member)]
        for payload in aliases:
            arguments += [self._salt(), encode_header(party=party), payload]
        state = await self._functions.call("gw_append", _KEYS, *arguments)
        return str(state.decode())

    async def take(self, party: str, after: int, limit: int) -> list[FeedEntry]:
        """The next groups of a feed, now counted as written to the party."""
        taken = await self._functions.call("gw_take", _KEYS, party, after, limit, self._salt())
        rows = [taken[i : i + 4] for i in range(0, len(taken), 4)]
        return [FeedEntry(int(c), int(e), int(n), records) for c, e, n, records in rows]

    async def untake(self, party: str, cursors: Sequence[int]) -> None:
        """A stream ended: what nobody acknowledged counts as not written."""
        await self._functions.call("gw_untake", _KEYS, party, *cursors)

    async def group(self, party: str, cursor: int) -> FeedEntry:
        """A group of a feed; raises RecordMismatchError if there is none (any more)."""
        epoch, number, records, _ = await self._functions.call("gw_group", _KEYS, party, cursor)
        if epoch is None:
            raise RecordMismatchError("feed holds no group at this cursor")
        return FeedEntry(cursor, int(epoch), int(number), records)

    async def delivered(self, party: str, entry: FeedEntry, payload: bytes, retention: int) -> str:
        """Record DELIVERED with the party's acknowledgement; `NEW`, `SAME`, `UNKNOWN` or `UNWRITTEN`."""
        header = encode_header(epoch=entry.epoch, group=entry.group, party=party, v=2)
        state = await self._functions.call(
            "gw_delivered", _KEYS, party, entry.cursor, retention, self._salt(), header, payload
        )
        return str(state.decode())

    async def backlogs(self, parties: Sequence[str]) -> list[int]:
        """Groups in each party's feed that it has not acknowledged."""
        pipe = self.client.pipeline(transaction=False)
        for party in parties:
            pipe.zcard(f"{PREFIX}:o:{party}")
        with store_errors():
            return [int(count) for count in await pipe.execute()]

    async def released_cursor(self) -> int:
        """MS's cursor of the last release handled."""
        return int(await self._functions.call("gw_released_cursor", _KEYS))


EVENT_TYPES: Final = (
    EventType.ENROLLED, EventType.LINKED, EventType.ALIASED, EventType.CONSENT, EventType.FORWARDED,
    EventType.REFUSED, EventType.UNREACHED, EventType.ANSWERED, EventType.DELIVERED, EventType.DROPPED,
    EventType.ERASED, EventType.EPOCH_OPENED,
)  # fmt: skip
"""What this service's log may hold."""
