"""When epochs began and ended (DESIGN 10.4 check 5): a wrong clock convicts nobody, a lie is proven."""

from typing import Any

import pytest

from auditor.checks.c5_epochs import EpochTimes
from auditor.checks.c5_held import HeldBack
from auditor.findings import GATEWAY, Report, Verdict
from auditor.policies import Policies
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import GroupMismatchError
from proxid.evidence.events import Event, EventType, encode_header
from proxid.protocol.epochs import Epochs
from proxid.protocol.opening import EpochOpening
from tests.support.scene import MALLORY, MS, SCREENER
from tests.unit.auditor.test_expired_events import trusted

DAY, HOUR = 86_400, 3600
EPOCHS = Epochs(DAY)


class Told:
    """Epoch events of a main service, read one by one."""

    def __init__(self) -> None:
        self.report = Report()
        self.times = EpochTimes(Policies(trusted()), self.report)
        self.found: list[str] = []

    def _take(self, kind: EventType, **fields: Any) -> "Told":
        event = Event(1, kind, bytes(16), encode_header(**fields), b"")
        try:
            (self.times.opened if kind is EventType.EPOCH_OPENED else self.times.closed)(event)
        except GroupMismatchError as error:
            self.found.append(error.rule)
        return self

    def opened(self, epoch: int, at: float | None = None, word: str | None = None, **other: Any) -> "Told":
        time = int((EPOCHS.start(epoch) + 1 if at is None else at) * 1000)
        word = said(time / 1000) if word is None else word
        return self._take(EventType.EPOCH_OPENED, **{"epoch": epoch, "opening": word, "time": time} | other)

    def closed(self, epoch: int, at: float | None = None, word: str | None = None, **other: Any) -> "Told":
        time = int((EPOCHS.end(epoch) + 301 if at is None else at) * 1000)
        word = said(time / 1000) if word is None else word
        fields = {"epoch": epoch, "v": 2, "opening": word, "time": time, "believed": not word} | other
        return self._take(EventType.EPOCH_CLOSED, **fields)

    def verdict(self) -> Verdict:
        """Of what was read, if nothing of it is wrong."""
        assert self.found == [] and self.report.violations == []
        self.times.finish()
        return self.report.verdict


def said(now: float, key: SigningKey = SCREENER, **changes: int) -> str:
    """The gateway's word of the epoch that is current at a time, with changes."""
    honest = EpochOpening.at(MS, EPOCHS, now)
    fields: dict[str, Any] = {"epoch": honest.epoch, "start": honest.start, "time_ms": honest.time_ms} | changes
    return EpochOpening(MS, **fields).sign(key).encode().hex()


def test_days_that_follow_each_other_are_clean() -> None:
    told = Told()
    for epoch in range(10, 15):
        told.opened(epoch)
        if epoch > 10:
            told.closed(epoch - 1)
    assert told.verdict() is Verdict.CLEAN
    assert told.report.counts["epochs.believed"] == 0


def test_end_that_one_clock_alone_is_believed_for_is_counted() -> None:
    told = Told().opened(10).closed(10, EPOCHS.end(10) + 2 * HOUR, "").opened(12)
    assert told.verdict() is Verdict.CLEAN
    assert told.report.counts["epochs.believed"] == 1


def test_day_that_a_wrong_clock_ended_is_not_the_operators_guilt() -> None:
    """Restarted a day ahead, alone for an hour, set right: the day is over, the next one begins."""
    told = Told().opened(10, EPOCHS.start(10) + HOUR).closed(10, EPOCHS.start(11) + 2 * HOUR, "").opened(11)
    assert told.verdict() is Verdict.UNCHECKED
    (missing,) = told.report.missing
    assert "clock was set back" in missing.text


def test_both_clocks_wrong_alike_are_nobodys_guilt() -> None:
    told = Told().opened(10).closed(10, EPOCHS.start(410) + 1).opened(410).opened(11)
    told.closed(11, EPOCHS.end(11) + 2 * HOUR, "")
    assert told.verdict() is Verdict.UNCHECKED


def test_service_that_was_away_closes_what_is_over_first() -> None:
    told = Told().opened(10).closed(10, EPOCHS.start(20) + 60, said(EPOCHS.start(20) + 59)).opened(20)
    assert told.verdict() is Verdict.CLEAN


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(("hours", "verdict"), [(1.9, Verdict.CLEAN), (2.1, Verdict.UNCHECKED)])
def test_epoch_that_is_over_is_closed_before_people_ask_for_hours(hours: float, verdict: Verdict, closed: bool) -> None:
    told, overdue = Told().opened(10).opened(11), HeldBack()
    for minutes in range(0, int(60 * hours), 3):
        overdue.received(int(EPOCHS.end(10) + 60 * minutes) * 1000)
    if closed:
        overdue.due(10, told.times.over_since(10))
        told.closed(10, EPOCHS.end(10) + hours * HOUR)
    told.times.hold(overdue)
    overdue.finish(told.report)
    assert told.verdict() is verdict


@pytest.mark.parametrize(("closed", "verdict"), [(False, Verdict.UNCHECKED), (True, Verdict.CLEAN)])
def test_service_that_was_away_at_the_end_may_be_asked_before_it_closes(closed: bool, verdict: Verdict) -> None:
    told, overdue = Told().opened(10), HeldBack()
    for at in (EPOCHS.end(10) - 60, EPOCHS.end(10) + 20 * HOUR):
        overdue.received(int(at) * 1000)
    if closed:
        overdue.due(10, told.times.over_since(10))
        told.closed(10, EPOCHS.end(10) + 20 * HOUR)
    told.times.hold(overdue)
    overdue.finish(told.report)
    assert told.verdict() is verdict


def test_epoch_that_ended_on_a_word_of_days_later_is_not_clean() -> None:
    """The word came before the end, by the main service's own clock, or that clock was set back since."""
    assert Told().opened(10).closed(10, word=said(EPOCHS.start(12) + 5)).verdict() is Verdict.UNCHECKED
    told = Told().opened(10).closed(10, EPOCHS.end(10) + 1, said(EPOCHS.end(10) + 0.9 * HOUR))
    assert told.verdict() is Verdict.CLEAN


@pytest.mark.parametrize(
    ("told", "rule"),
    [
        (Told().opened(10).closed(10, EPOCHS.end(10) - 1), "epoch was closed before its end"),
        (Told().opened(10).closed(10, word=said(EPOCHS.start(10) + 5)), "epoch was closed without the gateway's word"),
        (Told().opened(10).closed(10, word="", believed=False), "epoch was closed without the gateway's word"),
        (Told().opened(10).closed(10, believed=True), "epoch was closed on one clock alone"),
        (Told().opened(10).opened(11).closed(10, word=""), "epoch was closed on one clock alone"),
        (Told().opened(10).closed(10, word=said(EPOCHS.end(10) + 9, MALLORY)), "epoch began or ended on what is not"),
        (Told().opened(10).closed(10, word="00"), "epoch began or ended on what is not"),
        (Told().opened(10).closed(10, v=1), "epoch ended without saying when"),
        (Told().opened(10).closed(10).opened(10, word=said(EPOCHS.start(10) + 5)), "epoch was opened again"),
        (Told().opened(10).closed(10).opened(9), "epoch was opened again, or after"),
        (Told().opened(10, word=said(EPOCHS.start(11) + 5)), "epoch began on the gateway's word of another one"),
        (Told().opened(10, word=said(EPOCHS.start(10) + 3 * HOUR)), "epoch began although the clocks"),
        (Told().opened(10).opened(12), "epoch began while epoch 10 should have been closed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_the_main_service_contradicts_itself_in_is_a_violation(told: Told, rule: str) -> None:
    assert len(told.found) == 1 and told.found[0].startswith(rule)


def test_gateway_that_signs_an_opening_ahead_of_time_is_named_too() -> None:
    ahead = said(EPOCHS.end(10) - HOUR, epoch=11, start=EPOCHS.start(11))
    told = Told().opened(10).closed(10, word=ahead)
    assert [(v.log, v.rule) for v in told.report.violations] == [(GATEWAY, 5)]
    assert told.found == ["epoch began or ended on a word of the gateway that contradicts itself"]


def test_log_of_version_1_says_nothing_of_time() -> None:
    told = Told()._take(EventType.EPOCH_OPENED, epoch=10)._take(EventType.EPOCH_CLOSED, epoch=10)
    assert told._take(EventType.EPOCH_OPENED, epoch=11).verdict() is Verdict.CLEAN
    assert told.opened(12)._take(EventType.EPOCH_OPENED, epoch=13).found == ["epoch began without the gateway's word"]


def test_audit_that_goes_on_remembers() -> None:
    told = Told().opened(10).closed(10)
    later = Told()
    later.times.restore(told.times.state())
    assert later.opened(10).found == ["epoch was opened again, or after a later one was closed"]


def test_a_request_is_received_in_an_epoch_that_is_not_over_yet() -> None:
    told = Told().opened(10).opened(11)
    told.times.verify_received(10, EPOCHS.end(10) * 1000)
    told.closed(10)
    told.times.verify_received(11, EPOCHS.end(11) * 1000)
    for epoch in (9, 10):
        with pytest.raises(GroupMismatchError, match="had been closed"):
            told.times.verify_received(epoch, EPOCHS.end(epoch) * 1000)


BUCKET = DAY // 4


def ticked(told: Told, tick: int, at: float) -> None:
    header = encode_header(epoch=10, tick=tick, time=int(at * 1000))
    told.times.ticked(Event(1, EventType.TICKED, bytes(16), header, b""), EPOCHS.start(10) + tick * BUCKET)


def test_ticks_in_their_time_are_clean_however_late() -> None:
    told = Told().opened(10)
    for tick, late in ((1, 0), (3, 2 * HOUR), (4, 301)):
        ticked(told, tick, EPOCHS.start(10) + tick * BUCKET + late)
        told.times.verify_received(10, int((EPOCHS.start(10) + tick * BUCKET + late - 120) * 1000))
    assert told.closed(10, EPOCHS.end(10) + 302).verdict() is Verdict.CLEAN


@pytest.mark.parametrize("tick", [1, 4])
def test_a_tick_before_its_time_is_told(tick: int) -> None:
    """By MS's own word: its clock may differ from others', and not from itself."""
    told = Told().opened(10)
    with pytest.raises(GroupMismatchError, match="before its time"):
        ticked(told, tick, EPOCHS.start(10) + tick * BUCKET - 1)


def test_a_tick_whose_time_had_not_come_when_requests_came_later_is_not_clean() -> None:
    """MS says the right time of a tick that it does five hours early; people go on asking."""
    told = Told().opened(10)
    ticked(told, 1, EPOCHS.start(10) + BUCKET)
    told.times.verify_received(10, int((EPOCHS.start(10) + HOUR) * 1000))
    assert told.verdict() is Verdict.UNCHECKED


def test_an_epoch_whose_policy_is_not_known_may_be_open_for_long_and_its_clocks_may_differ_by_days() -> None:
    told = Told()
    told.times._policies.named.update({10: b"not known here", 11: b"nor this"})
    begun = EPOCHS.start(11) + 2 * HOUR
    told.opened(10).opened(11, at=begun, word=said(begun + 2 * HOUR)).closed(10, at=begun + 1)
    assert told.verdict() is Verdict.CLEAN
