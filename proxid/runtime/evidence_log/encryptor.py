"""From a plain event to a leaf (DESIGN 10.2): split it into parts, encrypt each under its person's chain.

Chains live in memory alone. After a restart a person-epoch simply gets a new one, sealed once more: what was
logged before cannot be read back, not even by a copy of this process's later memory.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from proxid.crypto.hpke import SealingKey
from proxid.evidence.events import EventType
from proxid.evidence.leaf import OPEN_TAG, Leaf, header_bytes, part_bytes, part_context, part_hash
from proxid.evidence.parts import NOBODY, PlainPart, split
from proxid.evidence.ratchet import TAG_SIZE, Chain

KEPT_CHAINS: Final = 100_000
LOST_TAG: Final = bytes(TAG_SIZE)
"""The tag of a part whose person has no evidence key: it is not kept, and the auditor will say so."""


@dataclass(frozen=True, slots=True)
class PlainEvent:
    """An event as the store's stream holds it."""

    number: int
    type: EventType
    salt: bytes
    fields: bytes
    payload: bytes


@dataclass(frozen=True, slots=True)
class SplitEvent:
    """An event and its parts."""

    event: PlainEvent
    parts: tuple[PlainPart, ...]


class Encryptor:
    """Makes leaves of one log.

    Args:
        log: `gateway` or `main-service`. origin: the log's name. auditor: whom chains are sealed to in the end.
    """

    def __init__(self, log: str, origin: str, auditor: SealingKey, random: Callable[[int], bytes] = os.urandom) -> None:
        self._log = log
        self._origin = origin
        self._auditor = auditor
        self._random = random
        self._chains: OrderedDict[str, Chain] = OrderedDict()

    def split(self, event: PlainEvent) -> SplitEvent:
        """The parts of an event; raises EncodingError."""
        return SplitEvent(event, tuple(split(self._log, event.type, event.payload)))

    def renew(self) -> None:
        """Forget all chains: what is encrypted from now on does not need a seal that may expire before it does."""
        self._chains.clear()

    def missing(self, events: Iterable[SplitEvent]) -> list[str]:
        """People (PROX_IDs) of these events that have no chain yet."""
        people = {part.person for item in events for part in item.parts if part.person != NOBODY}
        return sorted(people - self._chains.keys())

    def leaves(self, events: Sequence[SplitEvent], keys: Mapping[str, bytes]) -> list[Leaf]:
        """The leaves of events in order.

        Args:
            keys: evidence public key of the people that `missing` named, as far as they have one.
        """
        return [self._leaf(item, keys) for item in events]

    def _leaf(self, item: SplitEvent, keys: Mapping[str, bytes]) -> Leaf:
        event = item.event
        parts, hashes = list[bytes](), list[tuple[bytes, bytes]]()
        for position, part in enumerate(item.parts):
            tag, data = self._part(event.number, position, part, keys)
            parts.append(data)
            hashes.append((tag, part_hash(data)))
        return Leaf(event.salt, header_bytes(event.number, event.type, event.fields, hashes), tuple(parts))

    def _part(self, number: int, position: int, part: PlainPart, keys: Mapping[str, bytes]) -> tuple[bytes, bytes]:
        """Tag and encoding of a part."""
        if part.person == NOBODY:
            return OPEN_TAG, part_bytes(OPEN_TAG, 0, b"", part.data)
        chain = self._chain(part.person, keys)
        if chain is None:
            return LOST_TAG, part_bytes(LOST_TAG, 0, b"", b"")
        seal = chain.seal if chain.index == 0 else b""
        index, body = chain.encrypt(part.data, part_context(self._origin, number, position, chain.tag))
        return chain.tag, part_bytes(chain.tag, index, seal, body)

    def _chain(self, person: str, keys: Mapping[str, bytes]) -> Chain | None:
        chain = self._chains.get(person)
        if chain is None:
            key = keys.get(person)
            if not key:
                return None
            chain = self._chains[person] = Chain(self._origin, SealingKey(key), self._auditor, self._random)
            if len(self._chains) > KEPT_CHAINS:
                self._chains.popitem(last=False)
        else:
            self._chains.move_to_end(person)
        return chain
