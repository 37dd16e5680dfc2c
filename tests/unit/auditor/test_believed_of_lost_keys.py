"""What is believed of a lost key, until something waits under it again, does not depend on how often one audits."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c6_taken_back import TakenBack
from auditor.checks.c7_withheld import Asked, Withheld
from auditor.findings import Report
from auditor.policies import Policies
from proxid.evidence.events import Event, EventType, encode_header
from tests.unit.auditor.test_expired_events import trusted

LOST, EPOCH = "px1lost", 7
FIRST, AGAIN = "11" * 64, "22" * 64
PEOPLE: Any = SimpleNamespace(
    lost=SimpleNamespace(is_lost=lambda prox_id: True), is_erased=lambda prox_id: False, find=lambda prox_id: prox_id,
    of_prox=lambda prox_id: SimpleNamespace(user_id="ann"), user_of=lambda prox_id: "ann",
)  # fmt: skip
NOTHING: Any = SimpleNamespace(forwarded_at=lambda session: None)
OBLIGATIONS: Any = SimpleNamespace(
    objections={}, objected_after=lambda *_: False, has_objected_since=lambda *_: False, sets=NOTHING,
    restrictions=SimpleNamespace(is_told=lambda prox_id: False),
)  # fmt: skip
ANY: Any = None


def taken_back(report: Report, state: Any, again: bool, newest: int) -> Any:
    """An audit of what was withdrawn under a lost key, or in one that goes on from that, of what waits again."""
    policies: Any = SimpleNamespace(begins={"gateway": [(1, EPOCH), (2, newest)]})
    taken = TakenBack(policies, PEOPLE, ANY, OBLIGATIONS, report)
    if state is None:
        taken.withdrawn(EPOCH, b"s", LOST)
    else:
        taken.restore(state)
    if again:
        taken.verify_waits(LOST)
    taken.finish(newest)
    return taken.state()


def withheld(report: Report, state: Any, again: bool, newest: int) -> Any:
    """The same of what was withheld."""
    policies = Policies(trusted())
    check = Withheld(policies, PEOPLE, ANY, OBLIGATIONS, ANY, report)
    if state is None:
        for session in (FIRST, AGAIN):
            check._asked[session] = Asked(b"", LOST, EPOCH, 0, False, None)
        header = encode_header(kind="general", reason="restricted", session=FIRST, v=2)
        check.suppressed(Event(1, EventType.SUPPRESSED, bytes(16), header, b"", 1, (), False), FIRST, "restricted")
    else:
        check.restore(state)
    if again:
        check.taken(AGAIN, 2)
    policies.begins["gateway"] = [(1, newest)]
    check.finish(0.0)
    return check.state()


@pytest.mark.parametrize("audited", [taken_back, withheld])
def test_who_audits_often_believes_no_more(audited: Callable[..., Any]) -> None:
    found = []
    for stops in (False, True):
        report, state = Report(), None
        if stops:
            state = audited(report, None, False, EPOCH)
            assert report.believed == {"lost": 1}
        audited(report, state, True, EPOCH + 2)
        found.append((report.believed, len(report.violations), len(report.missing)))
    assert found[0] == found[1] and found[0][0] == {} and sum(found[0][1:]) == 1


@pytest.mark.parametrize("audited", [taken_back, withheld])
def test_what_is_believed_is_counted_once(audited: Callable[..., Any]) -> None:
    report, state = Report(), None
    for newest in range(EPOCH, EPOCH + 4):
        state = audited(report, state, False, newest)
    assert report.believed == {"lost": 1} and not report.violations and not report.missing
