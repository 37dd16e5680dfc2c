"""Form `split` replayed (check 5 of DESIGN 10.4): ticks, entries, contents, from BUFFERED, WITHDRAWN and the seed.

TICKED says when: what was buffered and taken back before it is what the tick went by. What then leaves, is given up and
is shown follows from that, byte for byte.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from auditor.checks.c5_split_entries import Entries, Judge
from auditor.checks.c5_split_shape import ShapeState, SplitShape, begun
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.pool import SplitPool
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Contents, Leaving, SplitPoolState
from proxid.errors import GroupMismatchError
from proxid.evidence.events import BufferedPayload, Event, ReleasedPayload
from proxid.evidence.splitting import batched_header, contents_plaintext, portions, split_record
from proxid.protocol.contents import digest_of
from proxid.protocol.record import group_number


class Batch(NamedTuple):
    """Contents that are due: the audience, the header of their BATCHED, the digest of the plaintext."""

    audience: str
    header: bytes
    digest: bytes


class SplitReplayState(NamedTuple):
    """A `SplitReplay`, for storing."""

    pool: SplitPoolState
    times: dict[bytes, int]
    due: dict[int, list[Leaving]]
    suppressed: dict[bytes, str]
    batches: dict[int, Batch]
    leaving: dict[bytes, bool]
    people: dict[bytes, tuple[str, str]]
    shows: bool
    ticked: int
    shape: ShapeState | None


class SplitReplay:
    """One epoch.

    Args:
        settings: of the form. seed: of the epoch. epoch: its number. shows: whether there are contents.
    """

    def __init__(self, settings: SplitSettings, seed: bytes, epoch: int, shows: bool) -> None:
        self._settings, self._seed, self._epoch, self._shows = settings, seed, epoch, shows
        self._draws = Draws(seed)
        self._entries = Entries(settings, seed, epoch)
        self._pool = SplitPool(settings, self._draws)
        self._ticked = 0
        self.shape: SplitShape | None = None
        """What goes on in its place once a record does not open."""
        self._times: dict[bytes, int] = {}
        self._people: dict[bytes, tuple[str, str]] = {}
        self._due: dict[int, list[Leaving]] = {}
        self._suppressed: dict[bytes, str] = {}
        self._batches: dict[int, Batch] = {}
        self._leaving: dict[bytes, bool] = {}
        """What a withdrawal has still to take back: whether its entry had left."""

    def buffer(self, payload: BufferedPayload) -> None:
        """BUFFERED; raises GroupMismatchError, PoolClosedError if it must not wait."""
        if not payload.seasoned:
            raise GroupMismatchError("record of an unseasoned person waits to be released")
        one = split_record(payload)
        if self.shape is not None:
            self.shape.buffer(one, payload.time_ms)
            return
        if not self._pool.submit(one):
            raise GroupMismatchError("record is buffered twice")
        self._times[one.id] = payload.time_ms
        self._people[one.id] = (one.person, one.audience)

    def blinded(self) -> None:
        """BUFFERED that does not open: what this replay knows is what its shape begins with.

        Raises:
            GroupMismatchError: the epoch was closed, so that nothing could wait any more.
        """
        if self._pool.closed or (self.shape is not None and self.shape.state.tick == self._settings.ticks):
            raise GroupMismatchError("a record is buffered after its epoch's last tick")
        if self.shape is None:
            state = begun(self._pool.state(), self._times, self._ticked)
            self.shape = SplitShape(self._settings, self._seed, self._epoch, state)

    def replays(self, portion: int = 0) -> bool:
        """Whether contents, or the portion of a number, follow from what was read."""
        return self.shape is None or portion in self._due

    def ticked(self, tick: int) -> None:
        """TICKED: from here on what leaves is that of this tick.

        Raises:
            GroupMismatchError: what was due before is missing. InputError, PoolClosedError: no tick of this epoch.
            RestrictionError: a round breaks an invariant.
        """
        if self.shape is not None:
            self._verify_out()
            self.shape.ticked(tick)
            return
        self.verify_settled()
        self._ticked = tick
        leaving: dict[str, Sequence[Leaving]] = {}
        if tick != self._settings.ticks:
            leaving.update(self._pool.tick(tick))
        else:
            for number, (audience, close) in enumerate(self._pool.close(), 1):
                leaving[audience] = close.leaving
                self._suppressed.update((gone.record.id, gone.reason.value) for gone in close.suppressed)
                if self._shows:
                    self._expect(close.contents, group_number("contents", number))
        self._due = dict(portions(tick, leaving, self._draws))

    def _expect(self, contents: Contents, number: int) -> None:
        digest = digest_of(contents_plaintext(contents, self._epoch, self._settings, self._seed))
        header = batched_header(contents, self._epoch, number, digest)
        self._batches[number] = Batch(contents.audience, header, digest)

    def verify_settled(self) -> None:
        """That nothing is due; raises GroupMismatchError."""
        if self._leaving:
            raise GroupMismatchError("a withdrawal left records of the person behind")
        self._verify_out()

    def _verify_out(self) -> None:
        if self._due or self._suppressed or self._batches:
            raise GroupMismatchError("what a tick lets go, gives up or shows is missing")

    def verify_over(self) -> None:
        """EPOCH_CLOSED: the last tick was, and nothing is due; raises GroupMismatchError."""
        if self.shape is not None:
            self._verify_out()
            self.shape.verify_over()
            return
        if not self._pool.closed:
            raise GroupMismatchError("an epoch ended without its last tick")
        self.verify_settled()

    def due_since(self, start: int) -> float | None:
        """When the next tick is due in an epoch that starts at a time (Unix seconds); None if that is the close."""
        last = self._ticked if self.shape is None else self.shape.state.tick
        return None if last + 1 >= self._settings.ticks else float(start + (last + 1) * self._settings.bucket_s)

    @property
    def pending(self) -> int:
        """Portions and contents that are due."""
        return len(self._due) + len(self._batches)

    def held(self, person: str, but: Collection[str]) -> tuple[bytes, ...]:
        """See `SplitPool.held`."""
        return self._pool.held(person, but)

    def withdrawn(self, session: bytes, left: bool) -> str:
        """WITHDRAWN: one of a person's records in an audience, all of which must go; whose it was, empty if unknown.

        Raises:
            GroupMismatchError: it is not there.
        """
        if self.shape is not None:
            self.shape.withdrawn(session)
            return ""
        person, audience = self._people.get(session, ("", ""))
        if session not in self._leaving:
            waited, gone = self._pool.withdraw(person, {audience})
            self._leaving |= dict.fromkeys(waited, False) | dict.fromkeys(gone, True)
        if self._leaving.pop(session, None) is not left:
            raise GroupMismatchError("a record was withdrawn that is not there")
        return person

    def gone(self, session: bytes, reason: str) -> None:
        """SUPPRESSED of a waiting record; raises GroupMismatchError."""
        if self.shape is None and self._suppressed.pop(session, None) != reason:
            raise GroupMismatchError("a record was given up that is not due to be")

    def released(self, number: int, audience: str, payload: ReleasedPayload, by: Judge) -> None:
        """RELEASED: the portion of this number, in its order, showing what it must.

        Raises:
            GroupMismatchError: entries, order, audience, node or body differ from the replay's.
        """
        portion = self._due.pop(number, None)
        if portion is None and self.shape is not None:
            self.shape.released(number, audience, payload, by)
            return
        if portion is None or portion[0].record.audience != audience:
            raise GroupMismatchError("no such portion leaves at the replayed tick")
        own = [(one, self._times[one.record.id]) for one in portion]
        self._entries.verify(own, (number, audience), payload, by)

    def released_unread(self, number: int, audience: str) -> None:
        """RELEASED of which nothing can be read; raises GroupMismatchError if no such portion is due."""
        if self._due.pop(number, None) is not None:
            return
        if self.shape is None:
            raise GroupMismatchError("no such portion leaves at the replayed tick")
        self.shape.released_unread(number, audience)

    def batched(self, number: int, event: Event) -> None:
        """BATCHED: the contents of this number, as they must be; raises GroupMismatchError."""
        if self.shape is not None and self._shows:
            self.shape.batched(event.fields)
            return
        batch = self._batches.pop(number, None)
        if batch is None or batch.header != event.header:
            raise GroupMismatchError("contents differ from the replay of the committed seed")

    def state(self) -> SplitReplayState:
        """For storing."""
        return SplitReplayState(
            self._pool.state(), self._times, self._due, self._suppressed, self._batches, self._leaving, self._people,
            self._shows, self._ticked, None if self.shape is None else self.shape.state,
        )  # fmt: skip

    @classmethod
    def restored(cls, state: SplitReplayState, seed: bytes, epoch: int) -> "SplitReplay":
        """A replay that goes on from a state."""
        found = cls(state.pool.settings, seed, epoch, state.shows)
        found._times, found._due, found._suppressed, found._batches = state[1:5]
        found._leaving, found._people, found._ticked = state.leaving, state.people, state.ticked
        found._pool = SplitPool.restored(state.pool, found._draws)
        if state.shape is not None:
            found.shape = SplitShape(state.pool.settings, seed, epoch, state.shape)
        return found
