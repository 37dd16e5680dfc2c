"""What the main service takes back of somebody is explained by no choice of anybody else's that cannot be read."""

from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c3_links import People, Person
from auditor.checks.c6_consents import Consents
from auditor.checks.c6_service import ServiceConsents
from auditor.checks.c6_taken_back import TakenBack
from auditor.findings import Report, Verdict
from auditor.policies import Policies
from proxid.evidence.events import Event, EventType, encode_header
from tests.unit.auditor.test_expired_events import trusted

EPOCH = 7
ANN, BOB, GONE = b"a" * 16, b"b" * 16, b"g" * 16
OBLIGATIONS: Any = SimpleNamespace(
    sets=SimpleNamespace(forwarded_at=lambda session: 1), has_objected_since=lambda *_: False
)  # fmt: skip
NOTHING: Any = None


@pytest.mark.parametrize(
    ("unread", "verdict"),
    [(ANN, Verdict.CLEAN), (BOB, Verdict.UNCHECKED), (GONE, Verdict.UNCHECKED), (b"", Verdict.UNCHECKED)],
)
def test_only_the_persons_own_choice_may_have_taken_it_back(unread: bytes, verdict: Verdict) -> None:
    policies, report = Policies(trusted()), Report()
    people = People(policies)
    for tag, name in ((ANN, "ann"), (BOB, "bob")):
        people._by_key[tag] = people._by_prox[f"px1{name}"] = Person(name, b"", f"px1{name}", EPOCH, True, b"")
        people._tags[tag] = tag
    consents = ServiceConsents(policies, people, Consents, report)
    if unread:
        consents.unread(Event(1, EventType.CONSENT, bytes(16), encode_header(epoch=EPOCH), b"", 1, (unread,), True))
    taken = TakenBack(policies, people, NOTHING, OBLIGATIONS, report)
    taken.withdrawn(EPOCH, b"s", "px1ann")
    taken.finish(EPOCH, consents.unreadable)
    assert report.verdict is verdict
