"""What goes into and comes out of the pool of waiting records (DESIGN 8.1, 8.4-8.7).

The pool decides on digests, names of nodes and people only: no text passes through it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from proxid.anonymise.mix.settings import Settings


class Record(NamedTuple):
    """One record that wants to wait.

    Attributes:
        id: opaque and unique in the epoch (the session id of the request).
        person: the pseudonym that issued it (PROX_ID).
        seasoned: whether the person counts towards n; the same for all records of a person.
        audience: the parties it may be released to, as one opaque name.
        path: its category from the top; components are not empty.
        units: opaque digests of the normalised text first, then its semantic units, longest first; empty when
            no text may be shown.
        time: arrival in seconds.
    """

    id: bytes
    person: str
    seasoned: bool
    audience: str
    path: tuple[str, ...]
    units: tuple[bytes, ...]
    time: float


class Outcome(StrEnum):
    """What became of a submitted record."""

    BUFFERED = "buffered"
    REPEATED = "repeated"
    """Withheld: the person issued this normalised text before in this epoch and audience (8.4.2)."""
    CAPPED = "capped"
    """Withheld: the person has `person_cap` records waiting at the node (8.5)."""
    DUPLICATE = "duplicate"
    """Nothing done: a record with this id was submitted before; a retry after a crash is harmless."""


class Reason(StrEnum):
    """Why a record is suppressed."""

    EXPIRED = "expired"
    """It waited `max_delay` at the root."""
    CAPPED = "capped"
    """The person has `person_cap` records waiting at the node (submitted to it, or moving up into it)."""
    REPEATED = "repeated"
    """See `Outcome.REPEATED`."""
    EPOCH_END = "epoch_end"
    """It still waited when the epoch was closed."""


class Rung(StrEnum):
    """What of a record is shown (8.7)."""

    TEXT = "text"
    UNIT = "unit"
    CATEGORY = "category"
    """The full category, no text."""
    NODE = "node"
    """Not even the category below the group's node: some record of the group had been raised (8.6)."""


class Member(NamedTuple):
    """One record of a group: who issued it, and what of its text is shown.

    `unit` indexes the record's `units` (0 for TEXT) and is None where no text is shown.
    """

    record: bytes
    person: str
    seasoned: bool
    rung: Rung
    unit: int | None


@dataclass(frozen=True, slots=True)
class Group:
    """A formed group. Members are distinct people, in order of their records' arrival.

    `number` counts from 1 without gaps in the epoch; `bucket` is the start, in seconds, of the time bucket in
    which it was formed, the only time its records carry.
    """

    number: int
    audience: str
    node: tuple[str, ...]
    raised: bool
    bucket: int
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Submission:
    """The result of a submission: its outcome and the groups it completed."""

    outcome: Outcome
    groups: tuple[Group, ...] = ()


class Raised(NamedTuple):
    """A record moved up one level (8.6)."""

    record: bytes
    source: tuple[str, ...]
    target: tuple[str, ...]


class Suppressed(NamedTuple):
    """A waiting record is given up."""

    record: bytes
    reason: Reason


@dataclass(frozen=True, slots=True)
class Step:
    """What one bounded call of `tick` or `close` did, each list in order; `more`: call again."""

    raised: tuple[Raised, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    groups: tuple[Group, ...] = ()
    more: bool = False


class Pair(NamedTuple):
    """One published pair: the record, the person it is published under, what of its text is shown."""

    record: bytes
    person: str
    rung: Rung
    unit: int | None


class WaitingRecord(NamedTuple):
    """A waiting record, for introspection: its id, person, audience, node and place in the audience's order."""

    record: bytes
    person: str
    audience: str
    node: tuple[str, ...]
    arrival: int


class TreeState(NamedTuple):
    """What waits in one audience, for storing.

    Attributes:
        waiting: node, `queue.Waiting` up to its time, and record; in order of arrival.
    """

    name: str
    arrivals: int
    lifts: int
    waiting: list[tuple[tuple[str, ...], int, int, int, float, Record]]


class PoolState(NamedTuple):
    """A pool, for storing; `trees` in the order of their audiences' first records."""

    settings: Settings
    clock: float
    groups_formed: int
    closed: bool
    seasoned: dict[str, bool]
    trees: list[TreeState]
