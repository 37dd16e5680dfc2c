"""How old what expires is (check 2): counted in epochs that both services vouch for, and not by the auditor's clock."""

from dataclasses import replace

import pytest

from auditor.checks.c2_erasures import Erasures
from auditor.checks.c2_expiry import check_expiry, goes_unsaid, may_be_gone
from auditor.findings import GATEWAY, MAIN_SERVICE, OPENING, Report
from auditor.policies import Policies
from auditor.reading.opening import Unopened
from auditor.scope import LogScope
from proxid.evidence.events import EventType, encode_header
from proxid.runtime.config.anonymiser import Retention
from proxid.runtime.config.base import Floors
from tests.unit.auditor.test_expired_events import gone, trusted

DAY = 86_400.0
FLOOR = 30


class Logs:
    """Both logs, of which every epoch from 100 on is event 10, 20, 30 and so on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Policies, "retention", lambda *_: Retention())
        self.trust = replace(trusted(), floors=Floors(payloads=FLOOR * DAY, links=FLOOR * DAY))
        self.policies, self.erasures = Policies(self.trust), Erasures(self.trust)
        self.erasures.epochs[b"t" * 16] = 100

    def open(self, epoch: int, vouched: bool = True) -> None:
        number = (epoch - 99) * 10
        self.policies.begins[GATEWAY].append((number, epoch))
        self.policies.told[epoch] = b""
        if vouched:
            self.policies.begins[MAIN_SERVICE].append((number, epoch))
            self.policies.opened[epoch] = b""

    def expire(self, log: str, number: int, **said: object) -> None:
        self.erasures.expiry(log, gone(number, EventType.EXPIRED, encode_header(**said)), 0)  # type: ignore[arg-type]

    def check(self, epoch: float, witness: float | None = None) -> tuple[list[tuple[int, str, int]], int]:
        """Violations, and how much is unchecked, by an auditor's clock in an epoch, and by the witness's."""
        report = Report()
        report.scope.started = epoch * DAY
        if witness is not None:
            report.scope.logs[GATEWAY] = LogScope("", "", 0, 1, "", (int(witness * DAY), 1))
        check_expiry(self.policies, self.erasures, 10**9, report)
        return [(v.rule, v.log, v.event) for v in report.violations], len(report.missing)


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Logs:
    return Logs(monkeypatch)


KINDS = [
    (GATEWAY, {"kind": "payloads", "until": 15}),
    (MAIN_SERVICE, {"kind": "payloads", "until": 15}),
    (GATEWAY, {"kind": "links", "first": 100, "until": 100}),
]


@pytest.mark.parametrize(("log", "said"), KINDS)
def test_what_expires_within_the_floor_is_a_violation_and_stays_one(
    logs: Logs, log: str, said: dict[str, object]
) -> None:
    logs.open(100)
    logs.expire(log, 17, **said)
    assert logs.check(100.5)[0] == [(OPENING, log, 17)]
    for epoch in range(101, 500):
        logs.open(epoch)
    assert logs.check(600)[0] == [(OPENING, log, 17)]


@pytest.mark.parametrize(("log", "said"), KINDS)
def test_what_expires_when_its_time_is_over_is_none_whoever_was_away(
    logs: Logs, log: str, said: dict[str, object]
) -> None:
    logs.open(100)
    logs.open(466)
    logs.expire(log, 3675, **said)
    assert logs.check(467) == ([], 0)
    assert logs.erasures.said == []


@pytest.mark.parametrize(("log", "said"), KINDS)
def test_a_house_where_nobody_asked_anything_is_not_accused(logs: Logs, log: str, said: dict[str, object]) -> None:
    logs.open(100)
    logs.expire(log, 17, **said)
    assert logs.check(467) == ([], 1)


@pytest.mark.parametrize(("log", "said"), KINDS)
def test_nor_is_it_by_an_auditor_whose_clock_is_behind(logs: Logs, log: str, said: dict[str, object]) -> None:
    logs.open(100)
    logs.expire(log, 17, **said)
    assert logs.check(50, 467) == ([], 1)


def test_an_epoch_that_the_other_service_never_opened_makes_nothing_older(logs: Logs) -> None:
    logs.open(100)
    logs.open(466, vouched=False)
    logs.expire(GATEWAY, 3675, kind="links", first=100, until=100)
    assert logs.check(105)[0] == [(OPENING, GATEWAY, 3675)]


@pytest.mark.parametrize(("now", "begun", "unsaid"), [(300, 0, False), (467, 0, True), (467, 1, True), (468, 2, False)])
def test_links_that_went_by_their_time_may_be_said_to_have_a_little_later(
    logs: Logs, now: int, begun: int, unsaid: bool
) -> None:
    """The gateway or the main service was away when it was time; of one that was there for two epochs it is a lie."""
    for epoch in (100, *range(466, 466 + begun)):
        logs.open(epoch)
    unopened, report = Unopened(), Report()
    report.scope.started = now * DAY
    unopened.add(b"t" * 16, GATEWAY, 12)
    logs.erasures.check_cover(unopened, report, lambda epoch: goes_unsaid(logs.policies, epoch, report))
    assert (len(report.violations), len(report.missing)) == ((0, 1) if unsaid else (1, 0))


@pytest.mark.parametrize(("event", "now", "gone"), [(12, 500, False), (3672, 466, True), (12, 466, False)])
def test_whose_links_had_gone_when_something_was_dropped_is_known_by_the_epochs_about_it(
    logs: Logs, event: int, now: int, gone: bool
) -> None:
    for epoch in (100, 101, 466):
        logs.open(epoch)
    report = Report()
    report.scope.started = now * DAY
    assert may_be_gone(logs.policies, 100, event, report) is gone
