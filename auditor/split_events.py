"""Events of form `split` in the Main Service's log (checks 5 and 7 of DESIGN 10.4)."""

from collections.abc import Mapping

from auditor.checks.c5_epochs import EpochTimes
from auditor.checks.c5_groups import Groups
from auditor.checks.c5_split import SplitReplay
from auditor.checks.c5_split_entries import Judge
from auditor.checks.c5_split_shape import verify_batched
from auditor.checks.c7_arrivals import Arrivals
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_shown import Named
from auditor.event_log import check_of
from auditor.findings import COMPLETENESS, GROUPS, PARTLY, Basis, Report
from auditor.policies import Policies
from proxid.errors import GroupMismatchError, RecordMismatchError
from proxid.evidence.events import Event, ReleasedPayload
from proxid.protocol import consent
from proxid.protocol.receipt import contents_digest
from proxid.protocol.record import TICK_BITS, kind_and_number


class SplitEvents:
    """Handlers; they raise as `Log` expects."""

    def __init__(self, policies: Policies, groups: Groups, sets: Sets, times: EpochTimes, report: Report) -> None:
        self._policies = policies
        self._groups = groups
        self._sets = sets
        self._times = times
        self._report = report

    def entries(
        self, event: Event, epoch: int, number: int, payload: ReleasedPayload, good: Mapping[str, Named]
    ) -> None:
        """RELEASED of a portion; `good` as `c3_records.verify_records`."""
        if event.fields["tick"] != kind_and_number(number)[1] >> TICK_BITS:
            raise GroupMismatchError("portion is numbered as one of another tick")
        for party, _, _ in payload.parties:
            self._sets.lies_in((epoch, number, party), str(event.fields["audience"]))
        self._report.counts["entries"] += len(payload.records)
        split = self._of(epoch)
        if not event.hidden and not all(map(all, (x for _, *both in payload.parties for x in both))):
            raise GroupMismatchError("portion is not released whole")
        if event.hidden or split is None or not split.replays(number):
            self._partly()
        judge = self._policies.of(epoch)
        if split is not None and judge is not None:
            by = Judge(judge, good, self._groups.fills(epoch))
            split.released(number, str(event.fields["audience"]), payload, by)

    def ticked(self, event: Event, arrivals: Arrivals) -> None:
        """TICKED; the last one is the epoch's end, which waits for nobody."""
        epoch = int(str(event.fields["epoch"]))
        split, judge = self._of(epoch), self._policies.of(epoch)
        if split is not None:
            self._groups.overdue.due(epoch, split.due_since(self._policies.trust.epochs.start(epoch)))
            split.ticked(int(str(event.fields["tick"])))
        if judge is not None and judge.split is not None:
            tick = int(str(event.fields["tick"]))
            due = self._policies.trust.epochs.start(epoch) + tick * judge.split.bucket_s
            if tick < judge.split.ticks:
                arrivals.ticked(1000 * due, event.number)
            self._times.ticked(event, due)

    def batched(self, event: Event) -> None:
        """BATCHED: what parties acknowledge is what the replay of the epoch shows."""
        fields = event.fields
        epoch, number, audience = int(str(fields["epoch"])), int(str(fields["group"])), str(fields["audience"])
        self._report.counts["contents"] += 1
        split, judge, digest = self._of(epoch), self._policies.of(epoch), bytes.fromhex(str(fields["digest"]))
        with check_of(COMPLETENESS):
            for party, _ in consent.parse_audience(audience.partition("|")[2]):
                signed = self._sets.vouched((epoch, number, party))
                self._sets.released((epoch, number, party), event.number)
                self._sets.lies_in((epoch, number, party), audience)
                self._sets.vouch_contents((epoch, number, party), contents_digest(digest))
                if signed not in (b"", contents_digest(digest)):
                    raise RecordMismatchError("a party got other contents than the ones of the epoch and audience")
        if split is None or not split.replays():
            self._partly()
        if judge is not None and judge.split is not None:
            verify_batched(fields, judge.split)
        if split is not None:
            split.batched(number, event)
        for party, _ in consent.parse_audience(audience.partition("|")[2]):
            self._sets.entries.holds((epoch, number, party))

    def has_left(self, event: Event) -> bool:
        """WITHDRAWN: whether an entry had left; raises GroupMismatchError if it says so of what leaves in a group."""
        fields = event.fields
        if "left" not in fields:
            return False
        judge = self._policies.of(int(str(fields["epoch"])))
        if fields["left"] is not True or "kind" in fields or (judge is not None and judge.split is None):
            raise GroupMismatchError("event says that an entry had left of what does not leave as one")
        return True

    def entries_unread(self, event: Event) -> None:
        """RELEASED of a portion of which nothing can be read."""
        split = self._of(int(str(event.fields["epoch"])))
        self._report.counts[PARTLY] += 1
        if split is not None:
            with check_of(GROUPS):
                split.released_unread(int(str(event.fields["group"])), str(event.fields["audience"]))

    def _partly(self) -> None:
        self._report.counts[PARTLY] += 1
        self._report.rests(GROUPS, Basis.UNREADABLE)

    def gone(self, epoch: int, session: bytes, reason: str) -> None:
        """SUPPRESSED at the close."""
        split = self._of(epoch)
        if split is not None:
            split.gone(session, reason)

    def _of(self, epoch: int) -> SplitReplay | None:
        """What is known of an epoch, None if nothing; raises GroupMismatchError if it cannot have such events."""
        split, judge = self._groups.split(epoch), self._policies.of(epoch)
        if judge is not None and judge.split is None:
            raise GroupMismatchError("an epoch of another form has no ticks, entries or contents")
        return split
