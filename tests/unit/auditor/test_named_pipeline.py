"""Requests that were withheld for what they said: a main service that has named what read them does so each time, or
is of an earlier release, which is told."""

from dataclasses import replace
from typing import Any

import pytest

from auditor.checks.c7_withheld import Withheld
from auditor.findings import Report
from auditor.policies import Policies
from proxid.errors import RecordMismatchError
from proxid.evidence.events import Event, EventType, encode_header
from proxid.runtime.config.base import Floors
from tests.unit.auditor.test_expired_events import trusted

SESSION = "11" * 64


def withheld(*said: tuple[str, str | None], rollbacks: int = 0) -> Withheld:
    """What was said of one request after another: the reason, and the pipeline that read it."""
    nobody: Any = None
    trust = replace(trusted(), floors=Floors(rollbacks=rollbacks))
    check = Withheld(Policies(trust), nobody, nobody, nobody, nobody, Report())
    for number, (reason, pipeline) in enumerate(said):
        by = {} if pipeline is None else {"pipeline": pipeline}
        header = encode_header(kind="unknown", reason=reason, session=SESSION, v=2, **by)
        event = Event(number, EventType.SUPPRESSED, bytes(16), header, b"", 1, (), False)
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
