"""An erasure of who lost a key in an epoch covers two subject tags of it: both are the main service's to forget."""

from types import SimpleNamespace
from typing import Any

from auditor.findings import Report
from auditor.rights_events import RightsEvents

LOST, LATER = b"l" * 16, b"m" * 16


def test_both_person_epochs_are_to_be_forgotten() -> None:
    left: list[dict[int, set[bytes]]] = []
    people: Any = SimpleNamespace(erased=lambda tag: None)
    split: Any = SimpleNamespace(erased=lambda user, forgotten: left.append(forgotten))
    erasures: Any = SimpleNamespace(epochs={LOST: 7, LATER: 7})
    nothing: Any = None
    events = RightsEvents(people, nothing, erasures, nothing, split, nothing, Report())
    events._forget({LOST, LATER}, {LOST, LATER})
    assert left == [{7: {LOST, LATER}}] * 2
