"""What waits in a slot and what comes out of its close (DESIGN 8.8, 8.9)."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from proxid.errors import ConfigError

DAY: Final = 86_400.0

Place = Callable[[bytes], bytes]
"""Id of a record to its place in the order of its person's: drawn from the epoch's seed (`split.draws.Draws.place`)."""


class SlotReason(StrEnum):
    """Why a record of a slot is given up."""

    SLOT_QUOTA = "slot_quota"
    """The person has another record in the slot, where one is taken (`rounds` off); or too many unseasoned people."""
    TOO_FEW = "too_few"
    """Its node has no parent, and too few people were there; or too few had as many records there as its person."""
    EPOCH_END = "epoch_end"


class SlotRecord(NamedTuple):
    """One location query or command.

    Attributes:
        id: opaque, unique in the epoch. person, seasoned, audience: as in `stream.types.Record`.
        path: node from the top; the last component is where it starts to wait.
        intent: leaf of the intent tree, shown only if the group's intents are diverse; may be empty.
        time: Unix seconds. floor: narrowest slot in seconds that may show its time (presence, sensitive places).
    """

    id: bytes
    person: str
    seasoned: bool
    audience: str
    path: tuple[str, ...]
    intent: str
    time: float
    floor: float = 0.0


@dataclass(frozen=True, slots=True)
class SlotSettings:
    """Parameters of the slots.

    Attributes:
        k, margin: a group has at least k + m distinct seasoned people.
        widths: slot widths in seconds: of the deepest nodes, then of each level above; the last for all others.
        depth: components of the longest path.
        rounds: whether all records of a person in a slot are taken and leave in rounds, and ripe siblings may leave
        before the others; else one is taken, and siblings leave together (policies of before there were rounds).
    """

    k: int
    margin: int
    widths: tuple[float, ...] = (900.0, 3600.0, 21_600.0, DAY)
    depth: int = 9
    rounds: bool = True

    def __post_init__(self) -> None:
        """Raises ConfigError for a value outside its range; the rule names the key."""
        if self.k < 2 or self.margin < 0:
            raise ConfigError("k must be at least 2 and margin not negative")
        if not self.widths or any(w <= 0 for w in self.widths) or list(self.widths) != sorted(set(self.widths)):
            raise ConfigError("time_slots must be positive and widen")
        if self.depth < 1:
            raise ConfigError("depth must be at least 1")

    @property
    def n(self) -> int:
        """Distinct seasoned people that a group needs: k + m (each record keeps its user, DESIGN 8.8)."""
        return self.k + self.margin

    def width(self, depth: int, floor: float) -> float:
        """Slot width of a node at a depth, for records that may not be shown finer than `floor` seconds."""
        level = min(max(self.depth - depth, 0), len(self.widths) - 1)
        wide = self.widths[level]
        return wide if wide >= floor else next((w for w in self.widths if w >= floor), self.widths[-1])


class Waiting(NamedTuple):
    """A record at a node: `depth` components of its path, in the slot [start, end)."""

    record: SlotRecord
    arrival: int
    depth: int
    start: float
    end: float

    @property
    def node(self) -> tuple[str, ...]:
        """The node's path."""
        return self.record.path[: self.depth]


class SlotGroup(NamedTuple):
    """A group: distinct people at one node and slot, in order of arrival. `diverse`: intents may be shown."""

    audience: str
    node: tuple[str, ...]
    start: float
    end: float
    members: tuple[SlotRecord, ...]
    diverse: bool


class Lifted(NamedTuple):
    """A record that moved to the parent of its node."""

    waiting: Waiting
    source: tuple[str, ...]


class GivenUp(NamedTuple):
    """A record that will never be published."""

    record: SlotRecord
    reason: SlotReason


@dataclass(frozen=True, slots=True)
class Closing:
    """What a close did, each list in order: groups, what still waits higher up, what was given up."""

    groups: tuple[SlotGroup, ...] = ()
    lifted: tuple[Lifted, ...] = ()
    given_up: tuple[GivenUp, ...] = ()


class SlotPoolState(NamedTuple):
    """The slots of one epoch, for storing.

    Attributes:
        taken: person, audience and start of each finest slot that a record was submitted for.
    """

    settings: SlotSettings
    epoch_end: float
    waiting: list[Waiting]
    taken: set[tuple[str, str, float]]
    arrivals: int
