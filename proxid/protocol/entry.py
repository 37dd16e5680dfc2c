"""An entry of form `split` (DESIGN 8.11, 9): a record that says who asked at which node, and nothing of what was asked.

The blocks are those of any record (`proxid.protocol.record`), but m_5 = E(tick, id): no group, no node and no position
stands outside the seal. Entries travel in *portions* of one tick and audience, in the order of their ids; a portion's
number says its tick, and is no part of what is signed.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from proxid.crypto.sansig import SignedMessage
from proxid.encoding import decode, decode_int, encode, label
from proxid.errors import EncodingError, RecordMismatchError
from proxid.protocol.record import BODY_HASH, KIND_BASE, PLACE, TICK_BITS, kind_and_number

ENTRY_ID_BYTES: Final = 16
PORTION: Final = 64
"""Entries of a portion at most."""

_ENTRIES: Final = label("delivery-entries")


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """Where an entry stands: its tick in the epoch, from 1, and its id."""

    tick: int
    id: bytes

    def encode(self) -> bytes:
        """m_5."""
        return encode(self.tick, self.id)

    @classmethod
    def decode(cls, data: bytes) -> "EntryPlace":
        """The place of an m_5; raises EncodingError."""
        tick, identity = decode(data, 2)
        if len(identity) != ENTRY_ID_BYTES:
            raise EncodingError("an entry's id has 16 bytes")
        return cls(decode_int(tick), identity)


def portion_number(tick: int, portion: int) -> int:
    """The number of a portion in its epoch, from its tick and its number in that, both from 1."""
    return KIND_BASE["entries"] + (tick << TICK_BITS) + portion


def tick_of(number: int) -> int:
    """The tick of a portion; 0 for a number that is no portion's."""
    kind, own = kind_and_number(number)
    return own >> TICK_BITS if kind == "entries" else 0


def places_of(records: Iterable[SignedMessage], number: int) -> list[EntryPlace]:
    """The places of a portion's entries, in their order.

    Raises:
        RecordMismatchError: none, of another tick, or ids that do not rise. EncodingError.
    """
    places = [EntryPlace.decode(signed.message.blocks[PLACE]) for signed in records]
    if not places or any(place.tick != tick_of(number) for place in places):
        raise RecordMismatchError("entry is of another tick")
    if any(a.id >= b.id for a, b in pairwise(places)):
        raise RecordMismatchError("entries are not in the order of their ids")
    return places


def entries_digest(records: Iterable[SignedMessage]) -> bytes:
    """What a party's acknowledgement signs of entries: SHA-256 over the sorted (id, hash of the body), 32 bytes."""
    blocks = [signed.message.blocks for signed in records]
    pairs = sorted((EntryPlace.decode(own[PLACE]).id, own[BODY_HASH]) for own in blocks)
    return hashlib.sha256(encode(_ENTRIES, *(encode(*pair) for pair in pairs))).digest()
