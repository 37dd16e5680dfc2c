"""Who is told of erasures and objections: whoever got records, or has left; and what a party does not acknowledge."""

from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c8_told import NOTICE_SECONDS, Told
from auditor.findings import ERASURE, GATEWAY, Report
from proxid.errors import RecordMismatchError
from proxid.evidence.events import Event, EventType, encode_header
from proxid.protocol.epochs import Epochs

DAY = 86_400
TAG = b"t" * 16
TO_ACME = "acme:" + "ab" * 32


class Log:
    """A gateway's, of which events are told by their numbers; epochs 7, 8, … begin at 1, 20, …"""

    def __init__(self) -> None:
        trust: Any = SimpleNamespace(epochs=Epochs(DAY))
        self.told, self.begins, self.listed = Told(trust), list[tuple[int, int]](), dict[int, tuple[str, ...]]()
        self.opens(1, 7)

    def opens(self, number: int, epoch: int, *parties: str) -> None:
        self.begins.append((number, epoch))
        self.listed[epoch] = parties or ("acme", "globex")
        self.told.epoch = epoch

    def objects(self, number: int, *notices: str) -> None:
        event = Event(number, EventType.OBJECTED, bytes(16), encode_header(notices=[*notices]), b"")
        self.told.made(event, [*notices])
        self.told.objected(event, "ann")

    def found(self) -> tuple[list[int], list[str]]:
        """Leaves of violations, what is unchecked; and the same of an audit that goes on."""
        policies: Any = SimpleNamespace(
            begins={GATEWAY: self.begins}, parties_of=self.listed.__getitem__,
            newest_parties=lambda: self.listed[self.begins[-1][1]],
        )  # fmt: skip
        found = []
        for _ in range(2):
            report = Report()
            self.told.finish(policies, report)
            assert {v.rule for v in report.violations} | {r.rule for r in report.missing} <= {ERASURE}
            found.append(([v.event for v in report.violations], [r.text[:20] for r in report.missing]))
            again = Told(self.told.trust)
            again.restore(self.told.state())
            self.told = again
        assert found[0] == found[1]
        self.waiting = report.counts["notices"]
        return found[0]


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.mark.parametrize("silent", [False, True])
def test_who_got_records_is_told_of_an_objection_or_has_left_by_the_next_epoch(log: Log, silent: bool) -> None:
    for party in ("acme", "globex"):
        if silent:
            log.told.was_sent(party, "ann", 5, ())
        else:
            log.told.delivered(party, [TAG], {"ann"})
    log.objects(10, TO_ACME)
    assert log.found() == ([], ["1 times a party that"])
    assert log.waiting == 1
    log.opens(20, 8)
    assert log.found() == ([10], [])


def test_a_party_that_has_left_is_not_told_and_may_come_back(log: Log) -> None:
    log.told.delivered("globex", [TAG], {"ann"})
    log.objects(10)
    log.opens(20, 8, "acme")
    assert log.found() == ([], [])
    log.opens(30, 9)
    assert log.found() == ([], [])


def test_a_party_that_is_back_was_not_there_to_be_told(log: Log) -> None:
    log.told.delivered("globex", [TAG], {"ann"})
    log.opens(9, 8, "acme")
    log.objects(10)
    log.opens(20, 9)
    assert log.found() == ([], [])


def test_one_notice_is_of_one_erasure_or_objection(log: Log) -> None:
    log.objects(10, TO_ACME)
    with pytest.raises(RecordMismatchError):
        log.objects(11, TO_ACME)


@pytest.mark.parametrize(("sent", "user", "guilty"), [(9, "ann", True), (11, "ann", False), (9, "", True)])
def test_what_was_sent_before_counts_though_it_is_known_later_of_whom_it_was(
    log: Log, sent: int, user: str, guilty: bool
) -> None:
    log.objects(10, TO_ACME)
    log.opens(20, 8)
    for party in ("acme", "globex"):
        for _ in range(2):
            log.told.was_sent(party, user, sent, (10,))
    assert log.found() == ([10] * guilty, [])


def test_of_an_event_of_before_that_told_nobody_nothing_is_asked(log: Log) -> None:
    log.told.was_sent("acme", "", 5, (10,))
    assert log.found() == ([], [])


@pytest.mark.parametrize("party", ["acme", "globex"])
def test_a_notice_is_open_until_its_party_acknowledges_something_else_days_later(log: Log, party: str) -> None:
    log.told.delivered("acme", [TAG], {"ann"})
    log.objects(10, TO_ACME)
    for days in range(NOTICE_SECONDS // DAY + 1):
        log.opens(20 + days, 8 + days)
        assert log.found() == ([], []) and log.waiting == 1
        log.told.delivered(party, [TAG], {"bob"})
    overdue = party == "acme"
    assert log.found() == ([], ["1 notices of erasure"] * overdue)
    assert log.waiting == 1 - overdue


def test_a_log_that_does_not_say_which_epochs_begin_says_nothing_of_days() -> None:
    log = Log()
    log.told.epoch = -1
    log.objects(10, TO_ACME)
    log.opens(20, 99)
    log.told.delivered("acme", [TAG], set())
    assert log.found() == ([], [])
