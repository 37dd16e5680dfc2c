"""Slots replayed (check 5 of DESIGN 10.4, for 8.8 and 8.9): each close is decided again by the same pure function.

The first event of a close makes the replay close; every event that follows must be one that the replay expects.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from auditor.checks.c3_records import verify_records
from auditor.checks.c7_shown import Named
from auditor.trust import Trust
from proxid.anonymise.mix.cycle import CycleSource
from proxid.anonymise.slotted.pool import SlotPool
from proxid.anonymise.slotted.types import Place, SlotGroup, SlotPoolState, SlotSettings
from proxid.errors import GroupMismatchError, RestrictionError
from proxid.evidence.bodies import slot_bodies, verify_slot_group
from proxid.evidence.disclosure import slot_record
from proxid.evidence.events import BufferedPayload, ReleasedPayload
from proxid.protocol.record import group_number

_LEFT: Final = "a close left records behind that it had to move or give up"
WITHHELD: Final = "restriction"
"""Why MS gives up a formed group: its check before a release found a restriction broken."""

Nodes = tuple[tuple[str, ...], tuple[str, ...]]


def verify_readable(said: Sequence[bytes | str], replayed: Sequence[bytes | str]) -> None:
    """Whatever is said is what the replay has at that place; raises GroupMismatchError."""
    if len(said) != len(replayed) or any(a and a != b for a, b in zip(said, replayed, strict=True)):
        raise GroupMismatchError("members or order differ from the replay of the committed seed")


class SlotState(NamedTuple):
    """A `SlotReplay`, for storing."""

    pool: SlotPoolState
    closed: float
    raised: dict[bytes, Nodes]
    given_up: dict[bytes, str]
    formed: list[SlotGroup]
    withheld: set[bytes]
    buffered: list[BufferedPayload]
    left: int


@dataclass(slots=True)
class SlotReplay:
    """One kind of one epoch.

    Attributes:
        raised, given_up: what the closes so far did and the log has not said yet. formed: groups not released yet.
        withheld: the rest of a group of which a record was withheld. left: how many groups were released or withheld.
    """

    pool: SlotPool
    settings: SlotSettings
    closed: float = 0.0
    raised: dict[bytes, Nodes] = field(default_factory=dict)
    given_up: dict[bytes, str] = field(default_factory=dict)
    formed: list[SlotGroup] = field(default_factory=list)
    withheld: set[bytes] = field(default_factory=set)
    buffered: dict[bytes, BufferedPayload] = field(default_factory=dict)
    left: int = 0

    def state(self) -> SlotState:
        """For storing."""
        return SlotState(
            self.pool.state(), self.closed, self.raised, self.given_up, self.formed, self.withheld,
            list(self.buffered.values()), self.left,
        )  # fmt: skip

    @classmethod
    def restored(cls, state: SlotState, place: Place) -> "SlotReplay":
        """A replay that goes on from a state."""
        buffered = {payload.session: payload for payload in state.buffered}
        pool = SlotPool.restored(state.pool, place)
        return cls(
            pool, state.pool.settings, state.closed, state.raised, state.given_up, state.formed, state.withheld,
            buffered, state.left,
        )  # fmt: skip

    def buffer(self, payload: BufferedPayload) -> None:
        """BUFFERED; raises GroupMismatchError if the replay must not buffer it."""
        if payload.time_ms / 1000 < self.closed and self._is_closed(payload):
            raise GroupMismatchError("record entered a slot that had closed")
        if self.pool.submit(slot_record(payload)) is not None:
            raise GroupMismatchError("person has another record in the slot")
        self.buffered[payload.session] = payload

    def _is_closed(self, payload: BufferedPayload) -> bool:
        record = slot_record(payload)
        width = self.settings.width(len(record.path), record.floor)
        return (record.time // width + 1) * width <= self.closed

    def close(self, now: float) -> float | None:
        """Close, if this close was not replayed yet.

        Returns:
            when the first slot ended that is closed now, Unix seconds; None if there is none.

        Raises:
            GroupMismatchError: it lies in the past, or not all was said of the one before, which is one step of MS's.
        """
        if now < self.closed:
            raise GroupMismatchError("slots were closed in the past")
        if now > self.closed and (self.raised or self.given_up):
            self.raised.clear()
            self.given_up.clear()
            raise GroupMismatchError(_LEFT)
        first = self.pool.first_end()
        if now == self.closed or first is None or first > now:
            self.closed = now
            return None
        self.closed = now
        done = self.pool.close(now)
        self.formed += done.groups
        for waiting, source in done.lifted:
            self.raised[waiting.record.id] = (source, waiting.node)
        for record, reason in done.given_up:
            self.given_up[record.id] = reason.value
        return first

    def verify_raised(self, session: bytes, nodes: Nodes) -> None:
        """RAISED; raises GroupMismatchError unless the close moved this record so."""
        if self.raised.pop(session, None) != nodes:
            raise GroupMismatchError("a record moved up that must not, or elsewhere")

    def verify_gone(self, session: bytes, reason: str) -> None:
        """SUPPRESSED; raises GroupMismatchError unless the close gave this record up."""
        if reason == WITHHELD:
            self.buffered.pop(session, None)
            self._withheld(session)
        elif self.given_up.pop(session, None) != reason:
            raise GroupMismatchError("a record was given up that must not be, or for another reason")
        self.buffered.pop(session, None)

    def _withheld(self, session: bytes) -> None:
        """MS's last check found a restriction broken: the group that is due goes, whole and nothing else."""
        if session not in self.withheld:
            due = {member.id for member in self.formed[0].members} if self.formed else set()
            if session not in due:
                raise GroupMismatchError("a record was withheld that is in no group that is due")
            group = self._leave()
            self.withheld |= due - {session}
            self._verify_broken(group)
            return
        self.withheld.remove(session)

    def _leave(self, number: int | None = None) -> SlotGroup:
        """The group that is due next leaves; raises GroupMismatchError if none is, or it is to have another number.

        Args:
            number: of RELEASED, from which the order of its people follows; None of a group that is withheld.
        """
        if not self.formed:
            raise GroupMismatchError("no such group is formed by the replay")
        group, self.left = self.formed.pop(0), self.left + 1
        if number not in (None, group_number(group.audience.partition("|")[0], self.left)):
            raise GroupMismatchError("group is numbered otherwise than in the order in which groups formed")
        return group

    def _verify_broken(self, group: SlotGroup) -> None:
        try:
            verify_slot_group(group, self.settings)
        except RestrictionError:
            return
        raise GroupMismatchError("a group was given up although it breaks no restriction")

    def withdrawn(self, session: bytes) -> str:
        """WITHDRAWN; whose it was. Raises GroupMismatchError unless it waits."""
        payload = self.buffered.pop(session, None)
        if payload is None or not self.pool.remove(session):
            raise GroupMismatchError("a record was withdrawn that does not wait")
        return payload.prox_id

    def held(self, person: str, but: Collection[str]) -> list[bytes]:
        """Sessions of a person's waiting records in all audiences (`KIND|AUDIENCE`) but these."""
        return self.pool.held(person, but)

    def release(
        self, trust: Trust, cycles: CycleSource, place: tuple[int, int], payload: ReleasedPayload,
        good: Mapping[str, Named], seeds: tuple[bytes, bytes],
    ) -> SlotGroup:  # fmt: skip
        """RELEASED: the next group that the closes formed, shuffled by the seed, shown as it must be.

        Args:
            place: epoch and number of the group. good: see `records.verify_records`. seeds: what audiences are named
                under, empty in version 1; what records are salted and encrypted from, empty before feed keys.
        """
        epoch, number = place
        group = self._leave(number)
        kind = group.audience.partition("|")[0]
        by_record = slot_bodies(group, kind, epoch, number, self.buffered, self.settings, seeds[0])
        order = cycles.draw(number, len(group.members))[1]
        members = [group.members[i] for i in order]
        published = tuple(member.person for member in members)
        if (
            tuple(m.id for m in members) != payload.records
            or published != payload.published
            or published != payload.owners
        ):
            raise GroupMismatchError("members or order differ from the replay of the committed seed")
        verify_records(trust, payload, group.audience, [by_record[member.id] for member in members], good, seeds[1])
        for member in members:
            del self.buffered[member.id]
        return group

    def release_unread(self, cycles: CycleSource, place: tuple[int, int], payload: ReleasedPayload | None) -> None:
        """RELEASED that does not open whole: the next group leaves the replay with it.

        Args:
            place: epoch and number of the group. payload: with empty fields where it does not open; None if it is gone.

        Raises:
            GroupMismatchError: no group is formed, or it has another number, or what can be read is of another one.
        """
        group = self._leave(place[1])
        members = [group.members[i] for i in cycles.draw(place[1], len(group.members))[1]]
        for member in members:
            self.buffered.pop(member.id, None)
        if payload is not None:
            verify_readable(payload.records, tuple(member.id for member in members))
            verify_readable(payload.published, tuple(member.person for member in members))

    def verify_settled(self) -> None:
        """At the end: every consequence of a close was said; raises GroupMismatchError."""
        if self.withheld:
            raise GroupMismatchError("a group was withheld in part")
        if self.raised or self.given_up:
            raise GroupMismatchError(_LEFT)
