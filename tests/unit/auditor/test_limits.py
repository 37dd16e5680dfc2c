"""Whom a gateway turned away for too many requests: held against what it forwarded, or told as what cannot be."""

from dataclasses import replace

import pytest

from auditor.checks.c3_links import Person
from auditor.checks.c7_limits import Limits
from auditor.findings import Report
from auditor.policies import ACCEPTED, Judged, Policies
from proxid.encoding import encode
from proxid.errors import Code, RecordMismatchError
from proxid.evidence.events import Event, EventType, encode_header
from tests.support.scene import EPOCH
from tests.unit.auditor.test_expired_events import trusted

ANN = Person("ann", b"key", "px1ann", EPOCH, True, b"")
START = int(trusted().epochs.start(EPOCH)) // 60
NOW = START + 300
"""Minutes."""


def by(policies: Policies, skew: float) -> None:
    """The epoch goes by a document that says another skew."""
    own = replace(policies.trust, clock_skew=skew)
    policies.named[EPOCH] = b"document"
    policies._judged[b"document"] = Judged(ACCEPTED, own, own)


class Gateway:
    """Forwards twenty requests of one person in each of some minutes."""

    def __init__(self, *minutes: int) -> None:
        self.believed: list[bool] = []
        turned_away = lambda _, believed: self.believed.append(believed)  # noqa: E731
        self.limits = Limits(Policies(trusted()), lambda _: ANN, turned_away, Report().older)
        for minute in minutes:
            for _ in range(20):
                self.limits.forwarded("ann", minute * 60_000)

    def refuses(self, minute: int, limit: int = 20) -> int:
        """How much cannot be checked then."""
        fields = {"v": 3, "rule": Code.RATE_LIMITED.value, "kind": "requests", "minute": minute, "limit": limit}
        header = encode_header(**fields)  # type: ignore[arg-type]
        self.limits.refused(Event(1, EventType.REFUSED, bytes(16), header, encode("px1ann"), 1, (), False))
        report = Report()
        self.limits.finish(report)
        return len(report.missing)


def test_who_had_asked_as_often_is_turned_away_and_nothing_of_it_is_believed() -> None:
    gateway = Gateway(NOW)
    assert gateway.refuses(NOW) == 0 and gateway.believed == [False]
    with pytest.raises(RecordMismatchError):
        Gateway(NOW - 10, NOW).refuses(NOW - 5)


@pytest.mark.parametrize("minute", [NOW - 60, START - 60, 0])
def test_a_minute_that_nobody_counts_any_more_is_told(minute: int) -> None:
    gateway = Gateway(NOW)
    assert gateway.refuses(minute) == 1 and gateway.believed == [True]


def test_a_persons_clock_may_be_off_by_what_the_epochs_policy_says() -> None:
    """The auditor's own configuration says two minutes."""
    gateway = Gateway(NOW - 12, NOW + 14)
    by(gateway.limits._policies, skew=900.0)
    assert gateway.refuses(NOW) == 0 and gateway.believed == [False]
    with pytest.raises(RecordMismatchError):
        Gateway(NOW - 12).refuses(NOW)


def test_an_audit_that_goes_on_tells_of_such_a_minute_as_the_one_before_did() -> None:
    before, after, report = Gateway(NOW), Gateway(), Report()
    before.refuses(NOW - 60)
    after.limits.restore(before.limits.state())
    after.limits.finish(report)
    assert len(report.missing) == 1


def test_what_cannot_be_counted_is_the_gateways_word() -> None:
    gateway = Gateway(NOW)
    gateway.limits.forwarded_unread()
    assert gateway.refuses(NOW) == 0 and gateway.believed == [True]
