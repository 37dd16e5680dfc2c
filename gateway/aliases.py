"""How a party is told whose records are (DESIGN 7, 9): the USER_ID, or an alias of the party and period."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gateway.identity import Screener
from gateway.store.library import GatewayStore
from gateway.store.links import Person
from gateway.upstream import ReleasedGroup
from proxid.crypto.sansig import Limit
from proxid.encoding import decode_text
from proxid.errors import RecordMismatchError
from proxid.protocol import record
from proxid.protocol.naming import Naming

KEY_SIZE: Final = 32


@dataclass(frozen=True, slots=True)
class Namer:
    """Names for the records of one group.

    Attributes:
        fidelity: `user_id` or `alias`. period, key: of the aliases; key is IS's own in an epoch without feed keys.
        keyed: whether the epoch has feed keys.
    """

    party: str
    fidelity: str
    period: int = 0
    key: bytes = b""
    keyed: bool = True

    def name(self, person: Person) -> str:
        """The name of a person."""
        if self.fidelity == "user_id":
            return person.user_id
        if self.keyed:
            return record.alias(self.key, person.user_id, person.part)
        return record.alias_before(self.key, self.party, self.period, person.user_id)


class Aliases:
    """Makes namers; the key of a party and period is drawn at its first use, and recorded before it is used."""

    def __init__(
        self, screener: Screener, store: GatewayStore, random: Callable[[int], bytes] = os.urandom
    ) -> None:  # fmt: skip
        self._screener, self._store, self._random = screener, store, random

    async def namer(self, group: ReleasedGroup, naming: Naming) -> Namer:
        """For a group or portion, by what its first record says, which is still to be verified.

        Raises:
            RecordMismatchError: it is empty. EncodingError.
        """
        if not group.records:
            raise RecordMismatchError("group is empty")
        header, kind = group.records[0].header, decode_text(group.records[0].message.blocks[record.KIND])
        fidelity = "user_id" if header.limit is Limit.LINKED_USER else "alias"
        keyed = await self._store.feed_key(group.party, group.epoch) is not None
        period = naming.period(kind, group.epoch, header.time_ms, keyed)
        key = self._screener.secret
        if fidelity == "alias" and keyed:
            until = naming.until(period, self._screener.epochs)
            key = await self._store.alias_key(group.party, period, self._random(KEY_SIZE), until)
        return Namer(group.party, fidelity, period, key, keyed)
