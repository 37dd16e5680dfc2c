"""The parties' feeds: a group is appended whole or dropped whole, written, acknowledged (DESIGN 9, 11).

Each method is one atomic step of `lua/feeds.lua`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.store.steps import PREFIX, Steps
from proxid.errors import (
    RecordMismatchError,
)
from proxid.evidence.events import encode_header
from proxid.runtime.store.connection import store_errors
from proxid.runtime.store.functions import named

_DAY: Final = 86_400
_STEP: Final = 100
"""Groups that one step looks at where there may be any number."""
_NAMED: Final = 32
"""Hexadecimal digits that are kept of what names an acknowledgement: a short value takes a third of the memory."""


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """A group in a party's feed; `records` is the encoded sequence of pairs, `held` the ids of a portion's entries.

    What the party has acknowledged has left the feed: of that `records` is empty.
    """

    cursor: int
    epoch: int
    group: int
    records: bytes
    held: bytes = b""


@dataclass(frozen=True, slots=True)
class PutEntry:
    """An entry for a feed: user tag, empty for an unknown person; the name it is published under; id; encoded pair."""

    user_tag: str
    name: str
    id: bytes
    pair: bytes


class FeedSteps(Steps):
    """See the module."""

    async def expire_feeds(self, parties: Sequence[str]) -> int:
        """Have groups that a gateway of before kept, though acknowledged, leave their feeds; how many."""
        gone = 0
        for party in parties:
            while left := int(await self.call("gw_expire_feeds", party, self._salt(), _STEP)):
                gone += left
        return gone

    async def forget_keys(self, parties: Sequence[str]) -> None:
        """Remove sealed feed keys of epochs that are forgotten and of which nothing waits any more."""
        for party in parties:
            further: list[Any] = [0]
            while further:
                after, *epochs = further
                further = await self.call("gw_forget_keys", party, after, _STEP, *epochs)

    async def drop_left(self, party: str) -> int:
        """Drop what a party that left has not acknowledged; how many groups."""
        gone = 0
        while dropped := int(await self.call("gw_drop_left", party, self._salt(), _STEP)):
            gone += dropped
        return gone

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
        epoch, group = place
        rows: list[bytes | str] = [item for member in members for item in member]
        for payload in aliases:
            rows += [self._salt(), encode_header(party=party), payload]
        state = await self.call(
            "gw_append",
            *named(
                *rows, party=party, epoch=epoch, group=group, grant=grant, records=records, release=release,
                salt=self._salt(), reason=reason, alias_ttl=alias_ttl, members=len(members),
            ),
        )  # fmt: skip
        return str(state.decode())

    async def append_entries(
        self, party: str, place: tuple[int, int], lane: tuple[str, str], release: int, entries: Sequence[PutEntry],
        aliases: Sequence[bytes] = (), alias_ttl: int = 0, kept: int = 3 * _DAY,
    ) -> str:  # fmt: skip
        """Append a portion to a feed: each entry whose person consents; the others are dropped. As `append`.

        Args:
            lane: `TYPE|FIDELITY`, `TYPE|AUDIENCE`. kept: seconds for which it is known whose entries they were: until
                the epoch's contents are not sent any more.
            aliases: of each entry the payload of ALIASED, empty for an unknown person, if names are aliases.
        """
        epoch, group = place
        rows: list[bytes | str] = []
        for one in entries:
            rows += [one.user_tag or "-", one.name, one.id.hex(), one.pair]
        for payload in aliases:
            rows += [self._salt(), encode_header(party=party), payload]
        state = await self.call(
            "gw_append_entries",
            *named(
                *rows, party=party, epoch=epoch, group=group, grant=lane[0], audience=lane[1], release=release,
                salt=self._salt(), alias_ttl=alias_ttl, kept=kept, coming=self.coming(), entries=len(entries),
            ),
        )  # fmt: skip
        return str(state.decode())

    async def append_contents(
        self, party: str, place: tuple[int, int], audience: str, message: bytes, release: int, now: float,
        due: int = 1 << 52,
    ) -> str:  # fmt: skip
        """Append a content message to a feed, or drop it; as `append`.

        Args:
            now: Unix seconds. What is not sent within a day is not sent any more.
            due: Unix seconds. What comes then or later is dropped: who went is not known for longer.
        """
        epoch, group = place
        state = await self.call(
            "gw_append_contents",
            *named(
                party=party, epoch=epoch, group=group, audience=audience, message=message, release=release,
                salt=self._salt(), now=int(now), due=due,
            ),
        )  # fmt: skip
        return str(state.decode())

    async def drop_late(self, parties: Sequence[str], now: float) -> int:
        """Drop content messages that waited too long to be sent; how many."""
        gone = 0
        for party in parties:
            looked = _STEP
            while looked == _STEP:
                dropped, looked = await self.call("gw_drop_late", party, int(now), self._salt(), _STEP)
                gone += dropped
        return gone

    async def take(self, party: str, after: int, limit: int) -> list[FeedEntry]:
        """The next groups of a feed; SENT is recorded and on disk before any byte of them can leave."""
        taken: list[Any] = []
        further: Any = after
        while not taken and further != b"":  # behind what may not go out any more
            taken, further = await self.call("gw_take", party, int(further), limit, self._salt(), self.coming())
        if taken:
            await self.on_disk()
        rows = [taken[i : i + 5] for i in range(0, len(taken), 5)]
        return [FeedEntry(int(c), int(e), int(n), records, held) for c, e, n, records, held in rows]

    async def newest(self, party: str) -> int:
        """The cursor of the group that came last into a feed; 0 before the first."""
        with store_errors():
            return int(await self.client.get(f"{PREFIX}:cursor:{party}") or 0)

    async def group(self, party: str, cursor: int) -> FeedEntry:
        """A group of a feed; raises RecordMismatchError if there is none (any more)."""
        epoch, number, records, held = await self.call("gw_group", party, cursor)
        if epoch is None:
            raise RecordMismatchError("feed holds no group at this cursor")
        return FeedEntry(cursor, int(epoch), int(number), records, held)

    async def delivered(
        self, party: str, entry: FeedEntry, payload: bytes, retention: int, accepted: bytes = b""
    ) -> str:  # fmt: skip
        """Record DELIVERED with the party's acknowledgement; `NEW`, `SAME` or `UNKNOWN`.

        Args:
            entry: as it was read: a portion that somebody has left since is unknown.
            retention: seconds for which it stays known who, when and to which party.
            accepted: what the acknowledgement is named by.
        """
        header = encode_header(ack=accepted.hex(), epoch=entry.epoch, group=entry.group, party=party, v=2)
        state = await self.call(
            "gw_delivered",
            *named(
                party=party, cursor=entry.cursor, held=entry.held, retention=retention, salt=self._salt(),
                header=header, payload=payload, accepted=accepted.hex()[:_NAMED],
            ),
        )  # fmt: skip
        return str(state.decode())

    async def delivered_at(self, party: str, cursor: int, accepted: bytes) -> str:
        """Where DELIVERED stands (`place_of`) of an acknowledgement; empty if a gateway of before recorded it.

        Raises:
            RecordMismatchError: another one was taken.
        """
        with store_errors():
            found: Any = await self.client.hget(f"{PREFIX}:g:{party}:{cursor}", "dl")
        named, _, place = (found or b"").decode().partition("|")
        if not accepted.hex().startswith(named):
            raise RecordMismatchError("acknowledgement is of another group")
        return str(place)

    async def backlogs(self, parties: Sequence[str], now: float) -> list[tuple[int, int]]:
        """Groups in each party's feed, and notices due by a Unix second, that it has not acknowledged."""
        pipe = self.client.pipeline(transaction=False)
        for party in parties:
            pipe.zcard(f"{PREFIX}:o:{party}")
            pipe.zcount(f"{PREFIX}:no:{party}", "-inf", now)
        with store_errors():
            counts = [int(count) for count in await pipe.execute()]
        return list(zip(counts[::2], counts[1::2], strict=True))

    async def released_cursor(self) -> int:
        """MS's cursor of the last release handled."""
        return int(await self.call("gw_released_cursor"))
