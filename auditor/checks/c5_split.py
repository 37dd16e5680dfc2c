"""Form `split` replayed (check 5 of DESIGN 10.4): ticks, entries, contents, from BUFFERED, WITHDRAWN and the seed.

TICKED says when: what was buffered and taken back before it is what the tick went by. What then leaves, is given up and
is shown follows from that, byte for byte.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from auditor.checks.c3_signatures import Signatures
from auditor.checks.c5_slots import verify_readable
from auditor.checks.c7_shown import Named
from auditor.trust import Trust
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.pool import SplitPool
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Contents, Leaving, SplitPoolState
from proxid.crypto.sansig import Role, SignedMessage
from proxid.encoding import encode_text
from proxid.errors import GroupMismatchError
from proxid.evidence.events import BufferedPayload, ReleasedPayload
from proxid.evidence.splitting import batched_header, contents_plaintext, entry_body, portions, split_record
from proxid.protocol import record
from proxid.protocol.consent import parse_audience
from proxid.protocol.contents import digest_of
from proxid.protocol.entry import EntryPlace, tick_of
from proxid.protocol.record import RecordBody, group_number


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


class SplitReplay:
    """One epoch.

    Args:
        settings: of the form. seed: of the epoch. epoch: its number. shows: whether there are contents.
    """

    def __init__(self, settings: SplitSettings, seed: bytes, epoch: int, shows: bool) -> None:
        self._settings, self._seed, self._epoch, self._shows = settings, seed, epoch, shows
        self._draws = Draws(seed)
        self._pool = SplitPool(settings, self._draws)
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
        if not self._pool.submit(one):
            raise GroupMismatchError("record is buffered twice")
        self._times[one.id] = payload.time_ms
        self._people[one.id] = (one.person, one.audience)

    def ticked(self, tick: int) -> None:
        """TICKED: from here on what leaves is that of this tick.

        Raises:
            GroupMismatchError: what was due before is missing. InputError, PoolClosedError: no tick of this epoch.
            RestrictionError: a round breaks an invariant.
        """
        self.verify_settled()
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
        if self._due or self._suppressed or self._batches:
            raise GroupMismatchError("what a tick lets go, gives up or shows is missing")

    def verify_over(self) -> None:
        """EPOCH_CLOSED: the last tick was, and nothing is due; raises GroupMismatchError."""
        if not self._pool.closed:
            raise GroupMismatchError("an epoch ended without its last tick")
        self.verify_settled()

    @property
    def pending(self) -> int:
        """Portions and contents that are due."""
        return len(self._due) + len(self._batches)

    def held(self, person: str, but: Collection[str]) -> tuple[bytes, ...]:
        """See `SplitPool.held`."""
        return self._pool.held(person, but)

    def withdrawn(self, session: bytes, left: bool) -> str:
        """WITHDRAWN: one of a person's records in an audience, all of which must go; whose it was.

        Raises:
            GroupMismatchError: it is not there.
        """
        person, audience = self._people.get(session, ("", ""))
        if session not in self._leaving:
            waited, gone = self._pool.withdraw(person, {audience})
            self._leaving |= dict.fromkeys(waited, False) | dict.fromkeys(gone, True)
        if self._leaving.pop(session, None) is not left:
            raise GroupMismatchError("a record was withdrawn that is not there")
        return person

    def gone(self, session: bytes, reason: str) -> None:
        """SUPPRESSED of a waiting record; raises GroupMismatchError."""
        if self._suppressed.pop(session, None) != reason:
            raise GroupMismatchError("a record was given up that is not due to be")

    def released(
        self, number: int, audience: str, payload: ReleasedPayload, trust: Trust, good: Mapping[str, Named]
    ) -> None:
        """RELEASED: the portion of this number, in its order, showing what it must.

        Args:
            good: as `c3_records.verify_records`.

        Raises:
            GroupMismatchError: entries, order, audience, node or body differ from the replay's.
        """
        portion = self._due.pop(number, None)
        if portion is None or portion[0].record.audience != audience:
            raise GroupMismatchError("no such portion leaves at the replayed tick")
        verify_readable(payload.records, tuple(one.record.id for one in portion))
        verify_readable(payload.published, tuple(one.record.person for one in portion))
        recipients = parse_audience(audience.partition("|")[2])
        if tuple(name for name, _, _ in payload.parties) != tuple(party for party, _ in recipients):
            raise GroupMismatchError("portion is released to other parties than its audience")
        for (party, records, padded), (_, fidelity) in zip(payload.parties, recipients, strict=True):
            for one, data, body in zip(portion, records, padded, strict=True):
                if data and body:
                    self._verify_entry(one, (data, body), number, (party, fidelity), (trust, good.get(party, {})))

    def released_unread(self, number: int) -> None:
        """RELEASED of which nothing can be read; raises GroupMismatchError if no such portion is due."""
        if self._due.pop(number, None) is None:
            raise GroupMismatchError("no such portion leaves at the replayed tick")

    def _verify_entry(
        self, one: Leaving, said: tuple[bytes, bytes], number: int, to: tuple[str, str],
        by: tuple[Trust, Named],
    ) -> None:  # fmt: skip
        (data, padded), (party, fidelity), tick, (trust, good) = said, to, tick_of(number), by
        signed = SignedMessage.decode(data)
        expected = record.expectation(trust.service, self._epoch, trust.service_key, trust.screener, fidelity)
        expected.verify_header(signed.message)
        Signatures.message(signed, Role.SIGNER, good.get(self._draws.entry(one.record.id), b""))
        blocks, place = signed.message.blocks, EntryPlace(tick, self._draws.entry(one.record.id))
        named = (blocks[record.USER], blocks[record.PARTY], blocks[record.KIND], blocks[record.PLACE])
        kind = one.record.audience.partition("|")[0]
        if named != (encode_text(one.record.person), encode_text(party), encode_text(kind), place.encode()):
            raise GroupMismatchError("entry names another person, party, kind, tick or id")
        time = trust.epochs.start(self._epoch) + (tick - 1) * self._settings.bucket_s
        body = entry_body(one, tick, self._epoch, self._settings, self._times[one.record.id], self._seed)
        if signed.header.time_ms != 1000 * time:
            raise GroupMismatchError("entry carries another time than its tick's")
        if blocks[record.BODY_HASH] != record.body_hash(padded) or RecordBody.decode(padded) != body:
            raise GroupMismatchError("entry shows something else than its node and bucket")

    def batched(self, number: int, header: bytes) -> Batch:
        """BATCHED: the contents of this number, as they must be; raises GroupMismatchError."""
        batch = self._batches.pop(number, None)
        if batch is None or batch.header != header:
            raise GroupMismatchError("contents differ from the replay of the committed seed")
        return batch

    def state(self) -> SplitReplayState:
        """For storing."""
        return SplitReplayState(
            self._pool.state(), self._times, self._due, self._suppressed, self._batches, self._leaving, self._people,
            self._shows,
        )  # fmt: skip

    @classmethod
    def restored(cls, state: SplitReplayState, seed: bytes, epoch: int) -> "SplitReplay":
        """A replay that goes on from a state."""
        found = cls(state.pool.settings, seed, epoch, state.shows)
        pool, found._times, found._due, found._suppressed, found._batches, found._leaving, found._people, _ = state
        found._pool = SplitPool.restored(pool, found._draws)
        return found
