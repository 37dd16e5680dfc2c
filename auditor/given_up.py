"""SUPPRESSED in the Main Service's log (checks 5 and 7 of DESIGN 10.4): what never waited, or no more, and why."""

from typing import Final

from auditor.checks.c4_records import Records
from auditor.checks.c5_epochs import EpochTimes
from auditor.checks.c5_groups import Groups
from auditor.checks.c5_places import SPENT
from auditor.checks.c5_slots import WITHHELD
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_reasons import TEXTS
from auditor.checks.c7_withheld import Withheld
from auditor.checks.c8_kept import Kept
from auditor.event_log import check_of
from auditor.findings import GROUPS
from auditor.split_events import SplitEvents
from proxid.anonymise.mix.types import Reason
from proxid.anonymise.slotted.types import SlotReason
from proxid.anonymise.split.types import SplitReason
from proxid.errors import GroupMismatchError
from proxid.evidence.events import BufferedPayload, Event, Header

_GIVEN_UP: Final = frozenset({WITHHELD, *Reason, *SlotReason, *SplitReason})
"""Why what waited is given up: the replay says which, where there is one."""
_LATER: Final = frozenset({Reason.EPOCH_END.value, WITHHELD})
"""Reasons that no time brings: the event says the time of what came last to where it waited."""


class GivenUp:
    """Handlers; they raise as `Log` expects."""

    def __init__(
        self, sets: Sets, groups: Groups, split: SplitEvents, records: Records, withheld: Withheld, kept: Kept,
        times: EpochTimes,
    ) -> None:  # fmt: skip
        self._sets = sets
        self._groups = groups
        self._split = split
        self._records = records
        self._withheld = withheld
        self._kept = kept
        self._times = times

    def suppressed(self, event: Event) -> None:
        """SUPPRESSED."""
        fields = event.fields
        session = str(fields["session"])
        self._kept.ended(session)
        waited, reason = self._sets.is_buffered(session), str(fields["reason"])
        self._sets.ended(session, reason, event.number)
        if not waited and reason in TEXTS and "pipeline" in fields:
            self._sets.texts.read_by(session, str(fields["pipeline"]))
        if not waited:
            self._never_waited(event, session, reason)
            return
        if reason == Reason.EPOCH_END:
            self._withheld.over(int(str(fields["epoch"])), event.number)
        if reason not in _LATER:
            self.timed(fields)
        with check_of(GROUPS):
            self._given_up(fields, session, waited)

    def _never_waited(self, event: Event, session: str, reason: str) -> None:
        received = self._withheld.suppressed(event, session, reason)
        if received is None:
            return
        payload = BufferedPayload.decode(event.payload)
        with check_of(GROUPS):
            if payload.session.hex() != session or payload.prox_id != received.prox_id:
                raise GroupMismatchError("what would have waited is not of the request that was withheld")
            self._records.verify(event, payload, received)
            if reason == SPENT:
                self._withheld.spent(received, self._groups.is_spent(received.epoch, payload))
            else:
                self._groups.replay(received.epoch).turned_away(payload, reason)

    def suppressed_unread(self, event: Event) -> None:
        """SUPPRESSED that cannot be read."""
        session = str(event.fields["session"])
        self._withheld.suppressed_unread(event, session, str(event.fields["reason"]))
        self._sets.ended(session, str(event.fields["reason"]), event.number)

    def timed(self, fields: Header) -> None:
        """What waits moves up, or is given up, by MS's clock."""
        for name in fields.keys() & {"time", "close"}:
            self._times.own(int(str(fields["epoch"])), int(1000 * float(str(fields[name]))))

    def _given_up(self, fields: Header, session: str, waited: bool) -> None:
        epoch, reason = int(str(fields.get("epoch", 0))), str(fields["reason"])
        if reason not in _GIVEN_UP:
            raise GroupMismatchError("a waiting record was given up for a reason that there is not")
        if waited and "kind" in fields:
            kind = str(fields["kind"])
            if not self._groups.is_blind(epoch, kind):
                self._groups.slots(epoch, kind, str(fields["close"])).verify_gone(bytes.fromhex(session), reason)
        elif waited and "tick" in fields:
            self._split.gone(epoch, bytes.fromhex(session), reason)
        elif waited:
            self._groups.gone(epoch, bytes.fromhex(session), reason, float(str(fields["time"])))
