"""From MS's released groups to the parties' feeds (DESIGN 9): verify, restore the user, append whole or drop whole.

IS sees who, party, kind and position; the bodies are encrypted for the party.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from gateway.aliases import Aliases, Namer
from gateway.blocks import exactly
from gateway.epochs import OpenEpochs
from gateway.identity import Screener
from gateway.portions import restore_entries, verify_audience, verify_contents
from gateway.store.library import GatewayStore
from gateway.store.links import Person
from gateway.upstream import MainServiceClient, ReleasedGroup
from proxid.crypto.sansig import Expectation, Role, SignedMessage, verify
from proxid.crypto.sansig.scheme import resign
from proxid.encoding import decode_text, encode, encode_text
from proxid.errors import (
    ConfigError,
    PolicyError,
    ProxidError,
    RecordMismatchError,
    StoreError,
    UpstreamError,
    UpstreamRefusedError,
)
from proxid.evidence.events import AliasedPayload, SanitizedPair
from proxid.protocol import record
from proxid.protocol.contents import LATE_SECONDS
from proxid.protocol.naming import Naming

_log = structlog.get_logger(__name__)
FIRST_DELAY: Final = 0.5
MAX_DELAY: Final = 5.0
STEADY_SECONDS: Final = 2.0
GATHER: Final = 0.1
"""Seconds between two words to MS of what is stored here: each tells of everything until then."""
_WAITS: Final = (StoreError, PolicyError, ConfigError)
"""Without its store, or an epoch's policy document, what comes cannot be judged, and is not dropped for that."""


@dataclass(frozen=True, slots=True)
class RestoredGroup:
    """A verified group with its users restored, ready for the feed."""

    pairs: tuple[SanitizedPair, ...]
    members: tuple[tuple[str, str], ...]
    grant: str
    aliases: tuple[bytes, ...]
    alias_ttl: int


class _Link:
    """Whether releases come; says so when it changes."""

    def __init__(self, upstream: MainServiceClient) -> None:
        self._upstream = upstream
        self.delay = FIRST_DELAY
        self._broken = False

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """An attempt that lasts a while on a line works, even if there is nothing to release."""
        timer = asyncio.get_running_loop().call_later(STEADY_SECONDS, self._lasts)
        try:
            yield
        finally:
            timer.cancel()

    def _lasts(self) -> None:
        if self._upstream.connected:  # nobody there may be waited for as long
            self.works()

    def works(self) -> None:
        """Something came, or nothing broke for a while."""
        self.delay = FIRST_DELAY
        if self._broken:
            self._broken = False
            _log.info("releases resumed")

    def broke(self, error: ProxidError) -> None:
        """The attempt failed."""
        if not self._broken:
            self._broken = True
            _log.warning("releases interrupted", code=error.code.value)
            return
        self.delay = min(2 * self.delay, MAX_DELAY)


class _Stored:
    """Tells MS up to which cursor releases are stored here, until it has heard so."""

    def __init__(self, upstream: MainServiceClient) -> None:
        self._upstream = upstream
        self._cursor = 0
        self._new = asyncio.Event()

    def until(self, cursor: int) -> None:
        """Everything up to a cursor is; 0: nothing."""
        self._cursor = cursor
        if cursor:
            self._new.set()

    async def tell(self) -> None:
        """Run until cancelled."""
        while True:
            await self._new.wait()
            self._new.clear()
            try:
                await self._upstream.acknowledge(self._cursor)
            except (UpstreamError, UpstreamRefusedError):
                self._new.set()
            await asyncio.sleep(FIRST_DELAY if self._new.is_set() else GATHER)


class Releases:
    """Follows MS's releases and fills the feeds."""

    def __init__(
        self, screener: Screener, store: GatewayStore, upstream: MainServiceClient, epochs: OpenEpochs
    ) -> None:
        self._screener = screener
        self._epochs = epochs
        self._store = store
        self._upstream = upstream
        self._aliases = Aliases(screener, store)

    async def follow(self) -> None:
        """Run until cancelled: each release is handled once, whatever breaks in between.

        Attempts become rarer while nothing comes; an interruption is logged when it begins and when it is over.
        """
        link, stored = _Link(self._upstream), _Stored(self._upstream)
        telling = asyncio.create_task(stored.tell())
        try:
            while True:
                try:
                    with link.attempt():
                        cursor = await self._store.released_cursor()
                        stored.until(cursor)
                        async for group in self._upstream.releases(cursor):
                            link.works()
                            await self.handle(group)
                            stored.until(group.cursor)
                except (UpstreamError, UpstreamRefusedError, *_WAITS) as error:
                    link.broke(error)
                await asyncio.sleep(link.delay)
        finally:
            telling.cancel()

    async def handle(self, group: ReleasedGroup) -> str:
        """Append one group, portion or content message to its feed or drop it; `NEW`, `DROPPED` or `SAME`.

        Raises:
            StoreError, PolicyError, ConfigError: it can be neither now.
        """
        latest = await self._epochs.latest()
        if latest is not None and group.party not in latest.parties:
            return await self._drop(group, "party_left")
        try:
            kind = record.kind_and_number(group.group)[0]
            if kind in ("contents", "entries"):
                verify_audience(group)
            if kind == "contents":
                return await self._contents(group)
            return await (self._entries(group) if kind == "entries" else self._group(group))
        except _WAITS:
            raise
        except ProxidError as error:
            _log.error("release refused", code=error.code.value, group=group.group)
            return await self._drop(group, "invalid")

    async def _drop(self, group: ReleasedGroup, reason: str) -> str:
        place = (group.epoch, group.group)
        return await self._store.append(group.party, place, "", b"", group.cursor, (), reason=reason)

    async def _contents(self, group: ReleasedGroup) -> str:
        verify_contents(self._screener, group)
        now, place = self._screener.clock(), (group.epoch, group.group)
        due = int(self._screener.epochs.end(group.epoch)) + 2 * LATE_SECONDS
        return await self._store.append_contents(
            group.party, place, group.audience, group.contents, group.cursor, now, due
        )

    async def _entries(self, group: ReleasedGroup) -> str:
        people = await self._store.people([_prox(r) for r in group.records])
        terms = await self._epochs.terms(group.epoch)
        namer = await self._aliases.namer(group, terms.naming)
        made = restore_entries(self._screener, group, people, terms, namer)
        place, ttl = (group.epoch, group.group), self._alias_ttl(group.epoch, terms.naming)
        return await self._store.append_entries(
            group.party,
            place,
            (made.grant, group.audience),
            group.cursor,
            made.entries,
            made.aliases,
            ttl,
            self._screener.epochs.seconds + 2 * LATE_SECONDS,
        )

    async def _group(self, group: ReleasedGroup) -> str:
        place = (group.epoch, group.group)
        people = await self._store.people([_prox(r) for r in group.records])
        naming = (await self._epochs.terms(group.epoch)).naming
        restored = self.restore(group, people, naming, await self._aliases.namer(group, naming))
        records = encode(*(pair.encode() for pair in restored.pairs))
        return await self._store.append(
            group.party, place, restored.grant, records, group.cursor, restored.members, restored.aliases,
            restored.alias_ttl,
        )  # fmt: skip

    def restore(
        self, group: ReleasedGroup, people: Sequence[Person], naming: Naming, namer: Namer
    ) -> RestoredGroup:  # fmt: skip
        """Verify every record and put the user, or the party's alias, into it.

        Args:
            naming: of the epoch. namer: for this group.

        Raises:
            RecordMismatchError: not one whole group for this party. SignatureInvalidError, HeaderMismatchError.
        """
        records = group.records
        if not records:
            raise RecordMismatchError("group is empty")
        fidelity = namer.fidelity
        kind = decode_text(records[0].message.blocks[record.KIND])
        expected = self._expected(group, fidelity)
        for position, signed in enumerate(records):
            self._verify(signed, group, position, (kind, expected))
            record.verify_label(signed, records[0].header.time_ms, group.party, namer.keyed)
        if len({p.user_tag for p in people}) != len(people):
            raise RecordMismatchError("group publishes a person twice")
        if kind != "general" and fidelity != "alias" and not naming.one:
            raise RecordMismatchError("a place or command would be published under a lasting name")
        names = [self._name(p, group, namer) for p in people]
        pairs = tuple(SanitizedPair(r, self._sanitize(r, n)) for r, n in zip(records, names, strict=True))
        aliases = self._aliased(people, names, group, namer.period) if fidelity == "alias" else ()
        grant = f"{kind}|{naming.fidelity(kind, fidelity)}"
        members = tuple((p.user_tag, n) for p, n in zip(people, names, strict=True))
        return RestoredGroup(pairs, members, grant, aliases, self._alias_ttl(group.epoch, naming))

    def _alias_ttl(self, epoch: int, naming: Naming) -> int:
        """Seconds for which ALIASED need not be said again: any alias of the epoch is out of use by then."""
        screener = self._screener
        return max(1, int(screener.epochs.end(epoch) - screener.clock())) + 2 * (
            naming.alias_seconds or screener.epochs.seconds
        )

    def _expected(self, group: ReleasedGroup, fidelity: str) -> Expectation:
        screener = self._screener
        return record.expectation(screener.service, group.epoch, screener.service_key, screener.key.public, fidelity)

    @staticmethod
    def _verify(signed: SignedMessage, group: ReleasedGroup, position: int, common: tuple[str, Expectation]) -> None:
        kind, expected = common
        verify(signed, expected, Role.SIGNER)
        blocks = signed.message.blocks
        place = record.Place(group.group, position, len(group.records))
        if blocks[record.PARTY] != encode_text(group.party) or blocks[record.PLACE] != place.encode():
            raise RecordMismatchError("record is for another party or place")
        if blocks[record.KIND] != encode_text(kind):
            raise RecordMismatchError("records of one group are of different kinds")

    @staticmethod
    def _name(person: Person, group: ReleasedGroup, namer: Namer) -> str:
        if not person.user_tag or person.epoch != group.epoch:
            raise RecordMismatchError("record names a PROX_ID that is not linked in its epoch")
        return namer.name(person)

    def _aliased(
        self, people: Sequence[Person], names: Sequence[str], group: ReleasedGroup, period: int
    ) -> tuple[bytes, ...]:
        rows = zip(people, names, group.records, strict=True)
        return tuple(AliasedPayload(p.user_id, group.party, period, n, _prox(r)).encode() for p, n, r in rows)

    def _sanitize(self, signed: SignedMessage, name: str) -> SignedMessage:
        block = encode_text(name)
        return resign(signed, block, self._screener.key, exactly(block))


def _prox(signed: SignedMessage) -> str:
    return signed.message.user_block.decode("utf-8", "replace")
