"""What is drawn by lot, from the epoch seed (DESIGN 8.11): pure functions of seed and record, whatever came first.

    entry id       = HMAC-SHA256(seed, E("proxid/v1/entry", id))[:16]          the order in which entries are sent
    place in order = HMAC-SHA256(seed, E("proxid/v1/round", id))               the order of a person's own records
    surplus        = HMAC-SHA256(seed, E("proxid/v1/surplus", id))             who stays when a node has over half

Records of one person sorted by their places, in rounds and in slots (8.8), are in an order drawn uniformly, as long as
the seed is secret; parties see entry ids, which tell nothing of the places.
"""

import hmac
from typing import Final

from proxid.anonymise.mix.cycle import SEED_BYTES
from proxid.encoding import encode, label
from proxid.errors import InputError

ENTRY_BYTES: Final = 16

_ENTRY: Final = label("entry")
_ROUND: Final = label("round")
_SURPLUS: Final = label("surplus")


class Draws:
    """The lots of one epoch.

    Args:
        seed: of the epoch, 32 bytes; drop this with it.
    """

    __slots__ = ("_seed",)

    def __init__(self, seed: bytes) -> None:
        """Raises InputError unless the seed has 32 bytes."""
        if len(seed) != SEED_BYTES:
            raise InputError("an epoch seed has 32 bytes")
        self._seed = seed

    def entry(self, record: bytes) -> bytes:
        """The name of a record's entry: 16 bytes."""
        return self._draw(_ENTRY, record)[:ENTRY_BYTES]

    def place(self, record: bytes) -> bytes:
        """A record's place in the order of its person's."""
        return self._draw(_ROUND, record)

    def surplus(self, record: bytes) -> bytes:
        """A record's place in the order in which a node's surplus is given up."""
        return self._draw(_SURPLUS, record)

    def _draw(self, purpose: bytes, record: bytes) -> bytes:
        return hmac.digest(self._seed, encode(purpose, record), "sha256")
