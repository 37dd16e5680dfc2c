"""When epochs began and ended (check 5 of DESIGN 10.4): what MS says it did, and IS's signed word that it did it by.

A wrong clock is no lie: whoever goes by one says so in good faith. What is held against a service is what contradicts
its own word, or the other side's signature. That a clock was wrong is told, as something that nobody can check.
"""

from typing import Final

from auditor.checks.c5_held import HeldBack
from auditor.findings import GATEWAY, GROUPS, MAIN_SERVICE, Basis, Report, Unchecked
from auditor.policies import Policies, spans
from auditor.skew import epoch_grace, epoch_skew
from proxid.errors import EpochError, GroupMismatchError, ProxidError
from proxid.evidence.events import Event
from proxid.protocol.opening import EpochOpening

_LENIENT: Final = 3600.0
"""Seconds: a service that was not restarted may go by an older document's skew and grace than the epoch's."""
_FALSE_WORD: Final = "the gateway signed outside an epoch that it had begun"


TimesState = tuple[set[int], int, int, bool, int, set[int]]
"""Open epochs, the last that was opened, the newest that was closed, whether there are times, the latest, doubts."""


class EpochTimes:
    """What MS's log says of its epochs, in the order of the log."""

    def __init__(self, policies: Policies, report: Report) -> None:
        self._policies = policies
        self._report = report
        self._open: set[int] = set()
        self._last = self._closed = -1
        """The epoch that was opened last, and the newest that was closed."""
        self._timed = False
        """Whether the log says when: one of version 1 does not."""
        self._latest = 0
        """The latest time that MS has said, in Unix milliseconds."""
        self._doubted: set[int] = set()
        """Epochs that began or ended when MS's time lay before what it had said."""

    def opened(self, event: Event) -> None:
        """EPOCH_OPENED in MS's log.

        Raises:
            GroupMismatchError: not on the gateway's word, again or before an epoch that was closed, or beside one that
                should have been closed long before.
        """
        fields = event.fields
        epoch = int(str(fields["epoch"]))
        over = sorted(self._open)
        self._open.add(epoch)
        self._last = epoch
        if "opening" not in fields:
            if self._timed or "policy" in fields:
                raise GroupMismatchError("epoch began without the gateway's word")
            return
        self._timed, time = True, int(str(fields["time"]))
        if epoch <= self._closed:
            raise GroupMismatchError("epoch was opened again, or after a later one was closed")
        word = self._word(event)
        if word.epoch != epoch:
            raise GroupMismatchError("epoch began on the gateway's word of another one")
        if abs(word.time_ms - time) > self._skew(epoch) * 1000:
            raise GroupMismatchError("epoch began although the clocks of the services differed")
        self.own(epoch, time)
        late = [e for e in over if self.over_since(e) <= time / 1000]
        if late:
            raise GroupMismatchError(f"epoch began while {spans(late)} should have been closed long before")

    def closed(self, event: Event) -> None:
        """EPOCH_CLOSED in MS's log.

        Raises:
            GroupMismatchError: before its end, or neither on the gateway's word that a later one has begun nor as
                believed, or as believed although that word was there.
        """
        fields = event.fields
        epoch = int(str(fields["epoch"]))
        if epoch not in self._open:
            raise GroupMismatchError("an epoch was closed twice")
        self._open.discard(epoch)
        if fields.get("v") != 2:
            if self._timed:
                raise GroupMismatchError("epoch ended without saying when and why")
            return
        self._timed, time = True, int(str(fields["time"]))
        self._closed = max(self._closed, epoch)
        if time / 1000 < self._end(epoch):
            raise GroupMismatchError("epoch was closed before its end")
        self.own(epoch, time)
        if fields["opening"]:
            word = self._word(event)
            if word.epoch <= epoch:
                raise GroupMismatchError("epoch was closed without the gateway's word that a later one has begun")
            if word.time_ms - time > self._skew(epoch) * 1000:  # it had come, or its clock was set back since
                self._doubted.add(epoch)
            if fields["believed"] is not False:
                raise GroupMismatchError("epoch was closed on one clock alone although the gateway's word was there")
        elif fields["believed"] is not True:
            raise GroupMismatchError("epoch was closed without the gateway's word that a later one has begun")
        elif self._last > epoch:
            raise GroupMismatchError("epoch was closed on one clock alone although the gateway's word was there")
        else:
            self._report.counts["epochs.believed"] += 1
            self._report.believe(GROUPS, "epoch_alone")

    def ticked(self, event: Event, due: int) -> None:
        """TICKED in MS's log; raises GroupMismatchError if the tick comes before its time, by MS's own word.

        Args:
            due: when it may come, Unix seconds.
        """
        fields = event.fields
        epoch, time = int(str(fields["epoch"])), int(str(fields["time"]))
        if time < due * 1000:
            raise GroupMismatchError("a tick came before its time")
        self.own(epoch, time)

    def verify_received(self, epoch: int, time_ms: int) -> None:
        """RECEIVED of a request of an epoch, whose keys are gone once it is closed; raises GroupMismatchError.

        Args:
            time_ms: of the request, which MS held against its clock: whatever time it said before, as that of a tick,
                had come by then, and whatever it says from then on is later.
        """
        self.said(epoch, time_ms)
        if epoch <= self._closed:
            raise GroupMismatchError("a request was received in an epoch that had been closed")

    def over_since(self, epoch: int) -> float:
        """When an epoch's time of grace is surely over, Unix seconds: it is closed then."""
        return self._end(epoch) + self._grace(epoch)

    def hold(self, overdue: HeldBack) -> None:
        """At the end: epochs that are open still, each of which keeps its keys, and what waits in it."""
        for epoch in self._open:
            overdue.waits(epoch, self.over_since(epoch))

    def finish(self) -> None:
        """At the end: when epochs began and ended cannot be told if MS's clock was set back."""
        if self._doubted:
            text = f"the main service's clock was set back by more than an hour about {spans(sorted(self._doubted))}"
            self._report.missing.append(Unchecked(GROUPS, MAIN_SERVICE, text))

    def state(self) -> TimesState:
        """For storing."""
        return self._open, self._last, self._closed, self._timed, self._latest, self._doubted

    def restore(self, state: TimesState) -> None:
        """Go on from a state."""
        self._open, self._last, self._closed, self._timed, self._latest, self._doubted = state

    def _word(self, event: Event) -> EpochOpening:
        """IS's word that an event rests on; what IS contradicts itself in is IS's violation, and MS's to go by it."""
        trust = self._policies.trust
        self._report.rests(GROUPS, Basis.COUNTERSIGNED)
        try:
            word = EpochOpening.decode(bytes.fromhex(str(event.fields["opening"])))
            word.verify(trust.screener, trust.service)
        except ProxidError:
            raise GroupMismatchError("epoch began or ended on what is not the gateway's word") from None
        try:
            word.verify_time(trust.epochs)
        except EpochError:
            self._report.once(GROUPS, GATEWAY, f"{_FALSE_WORD} (epoch {word.epoch})")
            raise GroupMismatchError("epoch began or ended on a word of the gateway that contradicts itself") from None
        return word

    def own(self, epoch: int, time_ms: int) -> None:
        """Something of an epoch happened at a time (Unix milliseconds) for which MS's clock alone vouches."""
        self._report.believe_beside("times")
        self.said(epoch, time_ms)

    def ended(self, close: float) -> None:
        """Slots ended by MS's clock, Unix seconds, as a group of theirs says, which may leave much later, as after a
        crash; raises ValueError, OverflowError if that is no time.
        """
        self._report.believe_beside("times")
        self._latest = max(self._latest, int(1000 * close))

    def said(self, epoch: int, time_ms: int) -> None:
        """Something of an epoch happened at a time by MS's clock, or by a device's (Unix milliseconds)."""
        if time_ms < self._latest - _LENIENT * 1000:
            self._doubted.add(epoch)
        self._latest = max(self._latest, time_ms)

    def _end(self, epoch: int) -> int:
        return self._policies.trust.epochs.end(epoch)

    def _skew(self, epoch: int) -> float:
        return max(_LENIENT, epoch_skew(self._policies, epoch))

    def _grace(self, epoch: int) -> float:
        return max(_LENIENT, epoch_grace(self._policies, epoch))
