"""Epoch keys and whose they are, and the epochs' own keys (DESIGN 4.3, 10.2).

Each method is one atomic step of `lua/links.lua`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, cast

from gateway.store.steps import PREFIX, Steps
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.revocation import Revocation
from proxid.encoding import encode
from proxid.errors import (
    NameAlikeError,
    RegistrationError,
)
from proxid.evidence.events import EpochOpened, decode_header, encode_header
from proxid.evidence.ratchet import owner_commitment, owner_salt, subject_tag
from proxid.protocol.record import alias_commitment
from proxid.runtime.evidence_log.writer import evidence_key_name
from proxid.runtime.store.connection import store_errors
from proxid.runtime.store.functions import named


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
    """The user behind a PROX_ID; `user_tag` is empty if there is none (any more). part: of the user's aliases."""

    user_id: str
    user_tag: str
    epoch: int
    part: bytes = b""


class Revoked(IntEnum):
    """What came of a revocation: nothing new, recorded now, in effect and not recorded, or its person is erased."""

    BEFORE = 0
    DONE = 1
    WAITS = 2
    ERASED = -1


class KeyLiveError(RegistrationError):
    """The user has an epoch key for this epoch already, which may be lost."""


class LinkSteps(Steps):
    """See the module."""

    async def epoch(self, epoch: int) -> bytes | None:
        """MS's signed key of an epoch that is or was open here; None if it was not, or is forgotten."""
        return cast("bytes | None", await self.call("gw_epoch", epoch))

    async def open_epoch(
        self, epoch: int, opened: EpochOpened, ttl: int, until: int, parties: Mapping[str, bytes] | None = None
    ) -> bytes:  # fmt: skip
        """Keep MS's signed key of an epoch for `ttl` seconds and record EPOCH_OPENED, once; the key that is kept.

        Args:
            until: Unix seconds at which links of the epoch expire.
            parties: of whose feeds the event says what waits, with each one's sealed feed key, or nothing.
        """
        rows = [item for row in (parties or {}).items() for item in row]
        header = encode_header(**decode_header(opened.header), feeds=[], last="")
        kept = await self.call(
            "gw_open_epoch",
            *named(
                *rows, epoch=epoch, key=opened.key, ttl=ttl, until=until, salt=self._salt(), header=header,
                payload=opened.payload,
            ),
        )  # fmt: skip
        return bytes(kept)

    async def feed_key(self, party: str, epoch: int) -> bytes | None:
        """A party's sealed feed key of an epoch; None if the epoch has none."""
        return cast("bytes | None", await self.call("gw_feed_key", party, epoch))

    async def links_expire(self, now: float) -> bool:
        """Whether the links of any epoch expire by a time (Unix seconds)."""
        with store_errors():
            return bool(await self.client.zcount(f"{PREFIX}:expiring", "-inf", int(now)))

    async def expire_links(self, now: float) -> int:
        """Record which epochs' links expire by a time, each once; how many epochs."""
        return int(await self.call("gw_expire_links", self._salt(), int(now)))

    async def link(
        self, key_tag: str, person: Registration, user_key: bytes, ttl: int, payloads: tuple[bytes, bytes],
        evidence: OpeningKey, forms: Sequence[str] = (), part: bytes = b"", replaces: Sequence[bytes] = (),
        now: float = 0.0, instead: str = "",
    ) -> bool:  # fmt: skip
        """Register an epoch key; False if the very same link was there.

        Args:
            payloads: of ENROLLED and LINKED. evidence: the person-epoch's, kept until erasure or `ttl` seconds.
            forms: of a new person's name; each must be nobody else's (`gateway.names`).
            part: of the person's aliases, as LINKED holds it: what `part` says, or what is kept from now on.
            replaces: the keys in whose place the enrolment puts this one. now: Unix seconds.
            instead: the PROX_ID that `lost` gave, by whose key nothing is taken from here on, as MS is owed.

        Raises:
            KeyLiveError, RegistrationError, NameAlikeError.
        """
        enrolled, linked = payloads
        owner = owner_commitment(person.user_id, owner_salt(evidence.seed))
        header = encode_header(epoch=person.epoch, owner=owner.hex())
        state = await self.call(
            "gw_link",
            *named(
                key_tag=key_tag, user_tag=person.user_tag, epoch=person.epoch, prox_id=person.prox_id,
                user_id=person.user_id, user_key=user_key, seasoned=int(person.seasoned), link=person.link,
                credential=person.credential, ttl=ttl,
                enrolled_salt=self._salt(), enrolled_header=encode_header(v=2, time=int(now)), enrolled=enrolled,
                linked_salt=self._salt(), linked_header=header, linked=linked,
                subject=subject_tag(evidence.public.data).hex(), evidence_seed=evidence.seed,
                evidence_name=evidence_key_name(PREFIX, person.prox_id), evidence_key=evidence.public.data,
                forms=",".join(forms), part=part, replaces=b"".join(replaces),
                instead=instead,
            ),
        )  # fmt: skip
        if state == b"ALIKE":
            raise NameAlikeError("the name looks like that of somebody who is registered")
        reasons = {
            b"ERASED": "user is erased",
            b"TAKEN": "epoch key was registered before",
            b"REPLACED": "the user's key was replaced by a later one, or revoked",
            b"UNNAMED": "the enrolment does not say that its key takes the place of the user's",
            b"AGAIN": "user is being linked by somebody else",
        }
        if state == b"LIVE":
            raise KeyLiveError("user has a live epoch key for this epoch")
        if state in reasons:
            raise RegistrationError(reasons[state])
        return bool(state == b"NEW")

    async def lost(self, user_tag: str, epoch: int) -> str:
        """The PROX_ID of a user's key of an epoch, if another one may take its place; else empty."""
        return str((await self.call("gw_lost", user_tag, epoch)).decode())

    async def revoke(self, user_tag: str, revocation: Revocation, payload: bytes, now: float | None) -> Revoked:
        """End a user's key and the epoch keys that it linked, and record REVOKED, once.

        Args:
            now: Unix seconds; None while the clock is not relied on: it takes effect, and is recorded later.
        """
        header = b"" if now is None else encode_header(statement=revocation.digest.hex(), time=int(now))
        done = await self.call(
            "gw_revoke",
            *named(
                user_tag=user_tag, user_key=revocation.user_key, digest=revocation.digest, salt=self._salt(),
                header=header, payload=payload,
            ),
        )  # fmt: skip
        return Revoked(done)

    async def part(self, user_tag: str) -> bytes | None:
        """The part of a person's aliases; None if nothing was drawn yet, or the person was erased."""
        return cast("bytes | None", await self.call("gw_part", user_tag))

    async def alias_key(self, party: str, period: int, drawn: bytes, until: int) -> bytes:
        """The key of a party's aliases in a period: this one, with KEYED, if there is none.

        Args:
            until: Unix seconds from which it is forgotten.
        """
        commitment = alias_commitment(party, period, drawn).hex()
        header = encode_header(commitment=commitment, party=party, period=period)
        asked = (party, period, drawn, until, self._salt(), header, encode(drawn))
        return bytes(await self.call("gw_alias_key", *asked))

    async def alias_keys_end(self, now: float) -> bool:
        """Whether the time of any key of aliases is over (Unix seconds)."""
        with store_errors():
            return bool(await self.client.zcount(f"{PREFIX}:ake", "-inf", int(now)))

    async def forget_alias_keys(self, now: float) -> int:
        """Destroy keys of aliases whose time is over; how many."""
        return int(await self.call("gw_forget_alias_keys", int(now)))

    async def evidence_keys(self, tags: Sequence[bytes]) -> list[bytes]:
        """The private evidence keys of subject tags, empty where there is none (any more)."""
        if not tags:
            return []
        with store_errors():
            found: Any = await self.client.mget([f"{PREFIX}:ek:{tag.hex()}" for tag in tags])
        return [bytes(seed or b"") for seed in found]

    async def registration(self, key_tag: str, over: bool = False) -> Registration:
        """The live registration of an epoch key; raises RegistrationError.

        Args:
            over: also one that was revoked or replaced; of somebody who is erased there is none.
        """
        fields = await self.call("gw_registration", key_tag, int(over))
        if not fields:
            raise RegistrationError("epoch key is not registered")
        user_id, tag, epoch, prox, seasoned, link, credential = fields
        return Registration(
            user_id.decode(), tag.decode(), int(epoch), prox.decode(), seasoned == b"1", link, credential
        )

    async def people(self, prox_ids: Sequence[str]) -> list[Person]:
        """The users behind PROX_IDs."""
        found = await self.call("gw_people", *prox_ids)
        return [
            Person(found[i].decode(), found[i + 1].decode(), int(found[i + 2] or 0), bytes(found[i + 3]))
            for i in range(0, len(found), 4)
        ]
