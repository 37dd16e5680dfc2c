"""Promises against a log (check 9): what is late alone is no violation, and what is early enough is looked for."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from auditor.checks.c7_completeness import Sets
from auditor.checks.c9_promises import Promised, _Given, late
from auditor.checks.c9_recent import Recent
from auditor.event_log import Log
from auditor.findings import RECEIPTS, Report
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import ProxidError
from proxid.evidence.checkpoint import Checkpoint, origin
from proxid.evidence.events import Event, EventType, encode_header
from proxid.evidence.note import Verifier
from proxid.evidence.promise import Promise
from proxid.evidence.succession import Succession

KEY = SigningKey(bytes(31) + b"\x02")
FIRST = origin("main-service", "gateway")
NOW = 10_000_000
SECOND = 1000


class Read:
    """A gateway's log that was read: two generations, three entries and four."""

    def __init__(self, report: Report, sets: Sets, generation: int = 1) -> None:
        self.first = Verifier(FIRST, KEY.public)
        self.generation = generation
        self.log = Log("gateway", {}, {kind: lambda _: None for kind in EventType}, report, cast(Any, None))
        self.log.promises({EventType.CONSENT: "message"}, sets.promisable.add)
        self.compared: list[bytes] = []

    def entries_before(self, generation: int) -> int | None:
        return {1: 0, 2: 3}[generation] if generation <= self.generation else None

    def compare(self, note: bytes) -> bool:
        self.compared.append(note)
        return True


def promise(number: int, asked: bytes, time_ms: int = NOW, log: str = FIRST, size: int = 1) -> bytes:
    head = Checkpoint(log, size, bytes(32)).sign(KEY).encode()
    return Promise(log, number, "CONSENT", asked, time_ms, head).sign(KEY).encode()


def scene(generation: int = 1) -> tuple[Promised, Report, Read]:
    report, sets = Report(), Sets()
    read = Read(report, sets, generation)
    for number, kind in enumerate((EventType.LINKED, EventType.CONSENT, EventType.FORWARDED), 1):
        read.log.take(Event(number, kind, bytes(16), encode_header(message=b"asked".hex(), phase="received"), b""))
    report.violations.clear()
    logs: Any = {"gateway": read, "main-service": read}
    found: Any = SimpleNamespace(service="main-service", screener=KEY.public, service_key=KEY.public)
    return Promised(found, sets, logs, report, Recent(NOW, NOW + SECOND), 120 * SECOND), report, read


def test_what_stands_where_it_was_promised_is_clean_and_its_head_compared() -> None:
    promised, report, read = scene()
    promised.take(promise(2, b"asked"))
    promised.finish()
    promised.finish()
    assert report.violations == [] and len(read.compared) == 1, "once"


@pytest.mark.parametrize(("number", "asked"), [(1, b"asked"), (3, b"asked"), (2, b"other")])
def test_what_stands_elsewhere_or_is_something_else_is_found(number: int, asked: bytes) -> None:
    promised, report, _ = scene()
    promised.take(promise(number, asked))
    assert [(v.rule, v.event) for v in report.violations] == [(RECEIPTS, number)]


@pytest.mark.parametrize(("age", "late_only"), [(0, True), (170, True), (200, False)])
def test_what_is_late_alone_is_counted(age: int, late_only: bool) -> None:
    promised, report, _ = scene()
    promised.take(promise(9, b"asked", NOW - age * SECOND))
    assert (report.counts["promises.late"] == 1, report.violations == []) == (late_only, late_only)


def test_what_waited_when_a_successor_was_begun_stands_in_that_one() -> None:
    promised, report, read = scene(2)
    read.log.take(Event(4, EventType.CONSENT, bytes(16), encode_header(message=b"moved".hex()), b""))
    report.violations.clear()
    promised.take(promise(7, b"moved"))
    assert report.violations == []
    promised.take(promise(7, b"lost"))
    assert [v.rule for v in report.violations] == [RECEIPTS]
    read.log.begin(2, 3)
    read.log.take(Event(5, EventType.SUCCEEDED, bytes(16), Succession(b"note", True).header(), b""))
    report.violations.clear()
    read.log.damage.forgot.append(4)
    promised.take(promise(8, b"lost"))
    assert report.violations == [] and report.missing


def test_a_promise_that_nobody_gave_accuses_nobody() -> None:
    promised, report, _ = scene()
    other = Promise.decode(promise(9, b"asked", 0))
    for bad in (other.sign(SigningKey(bytes(31) + b"\x03")).encode(), other.encode()[:-1] + b"\0", b""):
        with pytest.raises(ProxidError):
            promised.take(bad)
    assert report.violations == []


def test_a_later_head_covers_what_was_promised_a_merge_delay_before() -> None:
    first = _Given(0, 5, 7)
    assert late([first, _Given(60, 6, 8)], 60) is None, "within the delay it may lack it"
    assert late([_Given(61, 6, 8), first], 60) == (7, 6)
    assert late([first, _Given(61, 7, 8), _Given(30, 5, 6)], 60) is None
    assert late([first, _Given(10, 5, 2), _Given(75, 6, 1)], 60) == (7, 6)


def test_a_clock_that_was_wrong_for_a_while_is_told_and_accuses_nobody() -> None:
    """Heads only grow: a later promise with the smaller one shows that the time of one of the two is wrong."""
    for wrong in (_Given(-86_400, 70, 71), _Given(86_400, 30, 31)):
        right = [_Given(second, second, second + 1) for second in range(1, 100)]
        assert late([*right, wrong], 60) is None
        promised, report, _ = scene()
        promised._given[FIRST] = [_Given(one.time_ms * SECOND, one.size, one.number) for one in [*right, wrong]]
        promised.finish()
        assert report.violations == [] and [found.rule for found in report.missing] == [RECEIPTS]


def test_a_wrong_clock_excuses_no_other_promise() -> None:
    wrong, lie = _Given(-86_400, 70, 71), [_Given(500, 80, 90), _Given(600, 85, 86)]
    assert late([wrong, *lie], 60) == (90, 85)
