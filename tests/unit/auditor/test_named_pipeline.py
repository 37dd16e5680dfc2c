"""Requests that were withheld for what they said: a main service that has named what read them does so each time, or
is of an earlier release, which is told."""

from dataclasses import replace
from typing import Any

import pytest

from auditor.checks.c7_withheld import Asked, Withheld
from auditor.findings import Report, Verdict
from auditor.policies import Policies
from proxid.errors import RecordMismatchError
from proxid.evidence.events import Event, EventType, encode_header
from proxid.runtime.config.base import Floors
from tests.unit.auditor.test_expired_events import trusted

SESSION = "11" * 64


class Named:
    """A pipeline of which the name alone counts."""

    version = "one/1"


def withheld(*said: tuple[str, str | None], rollbacks: int = 0, **own: Any) -> Withheld:
    """What was said of one request after another: the reason, and the pipeline that read it.

    Args:
        own: what the auditor has, and what it judges by.
    """
    nobody: Any = None
    trust = replace(trusted(), floors=Floors(rollbacks=rollbacks), **own)
    check = Withheld(Policies(trust), nobody, nobody, nobody, nobody, Report())
    for number, (reason, pipeline) in enumerate(said):
        by = {} if pipeline is None else {"pipeline": pipeline}
        header = encode_header(kind="unknown", reason=reason, session=SESSION, v=2, **by)
        event = Event(number, EventType.SUPPRESSED, bytes(16), header, b"", 1, (), False)
        check.received_unread(SESSION)
        check.suppressed(event, SESSION, reason)
    return check


def test_who_named_what_read_a_request_names_it_each_time() -> None:
    withheld(("rejected", None), ("no_category", None), ("rejected", "one/1"), ("no_shape", "one/1"))
    withheld(("rejected", "one/1"), ("classifier_failed", None), ("place_budget", None), ("epoch_over", None))
    for left in (None, ""):
        with pytest.raises(RecordMismatchError):
            withheld(("rejected", "one/1"), ("no_category", left))
        report = Report()
        withheld(("rejected", "one/1"), ("no_category", left), rollbacks=1).releases.finish(report)
        assert [reason.code for reason in report.missing] == ["evidence_older"]


def test_it_is_remembered_from_audit_to_audit() -> None:
    again = withheld()
    again.restore(withheld(("rejected", "one/1")).state())
    header = encode_header(kind="unknown", reason="rejected", session=SESSION, v=2)
    with pytest.raises(RecordMismatchError):
        again.suppressed(Event(9, EventType.SUPPRESSED, bytes(16), header, b"", 1, (), False), SESSION, "rejected")


def report_of(reason: str, pipeline: str | None, demanded: str = "") -> Report:
    check = withheld(classifier=Named(), pipeline=demanded)
    check._asked[SESSION] = Asked(b"", "px1", 7, 0, False, None)
    by = {} if pipeline is None else {"pipeline": pipeline}
    header = encode_header(kind="unknown", reason=reason, session=SESSION, v=2, **by)
    check.suppressed(Event(1, EventType.SUPPRESSED, bytes(16), header, b"", 1, (), False), SESSION, reason)
    return check._report


def test_what_another_version_withheld_than_is_at_hand_is_not_checked() -> None:
    """Whoever opens such a request could not be told whether it had to be withheld."""
    for version, verdict in (("one/1", Verdict.CLEAN), (None, Verdict.UNCHECKED), ("one/2", Verdict.UNCHECKED)):
        assert report_of("rejected", version).verdict is verdict


def test_another_version_than_the_policy_demands_reads_nothing_whatever_it_is() -> None:
    assert report_of("unprocessable", "one/2", demanded="one/1").verdict is Verdict.CLEAN
    assert report_of("rejected", "one/2", demanded="one/1").verdict is Verdict.UNCHECKED
