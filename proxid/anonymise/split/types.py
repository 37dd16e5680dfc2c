"""What goes into and comes out of the pool of form `split` (DESIGN 8.11)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from proxid.anonymise.split.settings import SplitSettings

Node = tuple[str, ...]
"""A category path, cut to a level."""


class SplitReason(StrEnum):
    """Why a record is never released."""

    UNSEASONED = "unseasoned"
    """Its person does not count yet: answered, and nothing of it is shown."""
    TOO_FEW = "too_few"
    """At the close fewer than n people were at its node, and fewer than n came up with it to every node above."""
    TICK_UNIFORM = "tick_uniform"
    """At the close it would have said its node: too few nodes were left, or its node had over half of what was."""


class SplitRecord(NamedTuple):
    """One logged request of a seasoned person.

    Attributes:
        id: opaque and unique in the epoch (the session id). person: the pseudonym that issued it (PROX_ID).
        audience: the parties it may be released to, as one opaque name.
        path: its category from the top; components are not empty.
        texts: the normalised text, then its semantic units, longest first; empty when no text may be shown.
    """

    id: bytes
    person: str
    audience: str
    path: Node
    texts: tuple[str, ...]


class Leaving(NamedTuple):
    """A record whose entry leaves at a tick, under its node, or at the close under one above it (`raised`)."""

    record: SplitRecord
    node: Node
    raised: bool = False


class Suppressed(NamedTuple):
    """A record that is given up at the close."""

    record: SplitRecord
    reason: SplitReason


class Row(NamedTuple):
    """Contents that are shown alike: the category prefix, the text or unit or nothing, and how many records."""

    path: Node
    text: str
    records: int


class NodeRounds(NamedTuple):
    """The rounds of one node: people of each, in order, and records that no round took."""

    node: Node
    sizes: tuple[int, ...]
    withheld: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What is shown of one epoch and audience: no names, no rounds, no times.

    Attributes:
        rows: added up over all rounds, in order of their canonical bytes.
        nodes: of every open node of depth ℓ, in order; evidence, of which parties get the sum of `withheld` alone.
    """

    audience: str
    rows: tuple[Row, ...]
    nodes: tuple[NodeRounds, ...]

    @property
    def withheld(self) -> int:
        """Records of open nodes that no round took."""
        return sum(node.withheld for node in self.nodes)


class LaneState(NamedTuple):
    """One audience of a pool, for storing: what waits by node, what left and may be shown, open nodes."""

    name: str
    waiting: list[tuple[Node, list[SplitRecord]]]
    left: list[Leaving]
    opened: set[Node]


class SplitPoolState(NamedTuple):
    """A pool, for storing."""

    settings: SplitSettings
    ids: set[bytes]
    ticked: int
    closed: bool
    lanes: list[LaneState]


@dataclass(frozen=True, slots=True)
class Close:
    """What the close of an epoch lets go in one audience, gives up and shows; lists in order of arrival."""

    leaving: tuple[Leaving, ...]
    suppressed: tuple[Suppressed, ...]
    contents: Contents
