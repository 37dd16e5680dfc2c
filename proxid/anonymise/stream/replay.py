"""Replaying the pool from the events of the evidence log (DESIGN 10.4 (5)).

An auditor feeds BUFFERED, RAISED, SUPPRESSED and WITHDRAWN in the order of the log; the pool then forms by its own
rules the groups that the service must have formed, and each RELEASED is compared with them.
"""

from proxid.anonymise.stream.pool import Pool
from proxid.anonymise.stream.settings import Settings
from proxid.anonymise.stream.types import Group, Outcome, Raised, Reason, Record, Suppressed
from proxid.errors import ReplayMismatchError


class Replay:
    """The pool of one epoch, driven by its events."""

    def __init__(self, settings: Settings) -> None:
        self._pool = Pool(settings)
        self._people: dict[bytes, str] = {}
        self._formed: dict[int, Group] = {}
        self._released: set[int] = set()

    @property
    def formed(self) -> int:
        """Groups formed: their numbers are 1 … formed."""
        return self._pool.groups_formed

    def buffered(self, record: Record) -> None:
        """BUFFERED. Raises ReplayMismatchError if the rules would have withheld the record."""
        submission = self._pool.submit(record)
        if submission.outcome is not Outcome.BUFFERED:
            raise ReplayMismatchError("a record was buffered that the rules withhold")
        self._people[record.id] = record.person
        self._keep(submission.groups)

    def raised(self, record: bytes, target: tuple[str, ...], now: float) -> None:
        """RAISED to a node at a time of the clock; raises ReplayMismatchError if the rules say otherwise."""
        moved, groups = self._pool.move(record, now)
        if not isinstance(moved, Raised) or moved.target != target:
            raise ReplayMismatchError("a record moved up to another node than the rules say")
        self._keep(groups)

    def suppressed(self, record: bytes, reason: Reason, now: float) -> None:
        """SUPPRESSED while it waited; raises ReplayMismatchError if the rules say otherwise."""
        if reason is Reason.EPOCH_END:
            self._pool.expire(record)
        elif self._pool.move(record, now)[0] != Suppressed(record, reason):
            raise ReplayMismatchError("a record was suppressed against the rules")

    def withdrawn(self, record: bytes) -> None:
        """WITHDRAWN; raises ReplayMismatchError if the record was not waiting."""
        self._pool.remove(record, self._people.get(record, ""))

    def released(self, group: Group) -> None:
        """RELEASED. Raises ReplayMismatchError unless the rules formed this very group, and it is released once."""
        if self._formed.get(group.number) != group:
            raise ReplayMismatchError("a released group is not the one that the rules form")
        if group.number in self._released:
            raise ReplayMismatchError("a group was released twice")
        self._released.add(group.number)

    def unreleased(self) -> tuple[Group, ...]:
        """Groups that the rules formed and that were not released, by number."""
        return tuple(group for number, group in self._formed.items() if number not in self._released)

    def waiting(self) -> frozenset[bytes]:
        """The records that still wait."""
        return frozenset(waiting.record for waiting in self._pool.waiting())

    def _keep(self, groups: tuple[Group, ...]) -> None:
        self._formed.update((group.number, group) for group in groups)
