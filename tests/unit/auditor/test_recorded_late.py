"""What the main service did on the gateway's word, which that has not recorded, is unchecked for a time."""

from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c6_objected import Objected
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_withheld import Asked, Withheld
from auditor.checks.c8_obligations import Obligations
from auditor.findings import GATEWAY, Report, Verdict
from auditor.policies import Policies
from proxid.evidence.events import Event, EventType, encode_header
from proxid.protocol.rights import Right
from tests.unit.auditor.test_expired_events import trusted

PX, EPOCH, SESSION, LATER = "px1ann", 7, "11" * 64, "22" * 64
HOUR = 3_600_000
ANN = SimpleNamespace(user_id="ann", prox_id=PX, instead="")
PEOPLE: Any = SimpleNamespace(
    find=lambda prox_id: ANN, user_of=lambda prox_id: "ann", is_erased=lambda prox_id: False,
    lost=SimpleNamespace(is_lost=lambda prox_id: False),
)  # fmt: skip
ANY: Any = None
AWAY = [(1, EPOCH), (50, EPOCH + 3)]
"""The gateway was away for two epochs, and has just come back."""


def verdict(*then: tuple[str, int], gone: bool = False) -> Verdict:
    """Of an audit that finds that a record waits of who objected before, and then of one that reads more.

    Args:
        then: what else the gateway records: a right, at an event. gone: its person is not known any more.
    """
    found = []
    for stops in (False, True):
        sets, policies, report = Sets(), Policies(trusted()), Report()
        people: Any = PEOPLE if not gone else SimpleNamespace(**{**vars(PEOPLE), "find": lambda prox_id: None})
        obligations = Obligations(policies.trust, people, sets)
        objected = Objected(policies, people, obligations, report)
        read(obligations, (Right.OBJECT, 10))
        sets.forwarded(SESSION, HOUR, 20)
        if not stops:
            read(obligations, *then)
        waits = Event(3, EventType.BUFFERED, bytes(16), encode_header(), b"")
        objected.waits(waits, PX, EPOCH, SESSION, HOUR)
        objected.finish(EPOCH)
        if stops:
            read(obligations, *then)
            again = Objected(policies, people, obligations, report := Report())
            again.restore(objected.state())
            again.finish(EPOCH)
        sets.close()
        found.append(report.verdict)
    assert found[0] is found[1]
    return found[0]


def read(obligations: Obligations, *events: tuple[str, int]) -> None:
    for what, number in events:
        right, _, minutes = what.partition(" ")
        said: Any = SimpleNamespace(right=Right(right), user_id="ann", time_ms=HOUR + int(minutes or 0) * 60_000)
        obligations.objected(Event(number, EventType.OBJECTED, bytes(16), encode_header(notices=[]), b""), said)


@pytest.mark.parametrize(("then", "found"), [
    ([], Verdict.UNCHECKED),
    ([("object", 35)], Verdict.UNCHECKED),
    ([("resume", 35)], Verdict.CLEAN),
    ([("resume", 35), ("object", 36)], Verdict.CLEAN),
    ([("resume 11", 35)], Verdict.UNCHECKED),  # it was taken back, and long after
])  # fmt: skip
def test_of_what_waits_of_who_objects_nobody_can_tell_whose_fault_it_is(
    then: list[tuple[str, int]], found: Verdict
) -> None:
    assert verdict(*then) is found


def test_whoever_is_erased_meanwhile_leaves_nothing_to_judge() -> None:
    assert verdict(gone=True) is Verdict.CLEAN


@pytest.mark.parametrize("reason", ["restricted", "erased"])
def test_what_is_withheld_on_the_word_of_a_gateway_that_was_away_is_not_judged_when_it_is_just_back(
    reason: str,
) -> None:
    restrictions = SimpleNamespace(is_told=lambda prox_id: False)
    obligations: Any = SimpleNamespace(objected_after=lambda *_: False, restrictions=restrictions)
    for begins, found in ((AWAY, Verdict.UNCHECKED), ([*AWAY, (60, EPOCH + 4)], Verdict.VIOLATION)):
        policies, report = Policies(trusted()), Report()
        check = Withheld(policies, PEOPLE, ANY, obligations, ANY, report)
        check._asked[SESSION] = Asked(b"", PX, EPOCH, 0, False, None)
        header = encode_header(kind="general", reason=reason, session=SESSION, v=2)
        check.suppressed(Event(1, EventType.SUPPRESSED, bytes(16), header, b"", 1, (), False), SESSION, reason)
        policies.begins[GATEWAY] = begins
        check.finish(0.0)
        assert report.verdict is found
