"""What somebody asked before they objected: whether it waits is judged by what was surely forwarded after that."""

from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c6_objected import Objected
from auditor.findings import Report
from auditor.policies import Policies
from proxid.protocol.epochs import EPOCH_SECONDS
from tests.unit.auditor.test_expired_events import trusted

EPOCH, OBJECTED = 7, 100
NOON, MIDNIGHT = (1000 * (EPOCH * EPOCH_SECONDS + seconds) for seconds in (EPOCH_SECONDS // 2, EPOCH_SECONDS))
ASKED, LATER = b"a" * 64, b"l" * 64
EARLY, COMES, NEVER = "e" * 128, "c" * 128, "f" * 128
FORWARDED = {ASKED.hex(): 50, EARLY: 90, COMES: 150, LATER.hex(): 140}


def audit(
    *comes: tuple[str, int], held: dict[str, list[bytes]], state: Any = None, known: bool = True,
    begins: list[tuple[int, int]] | None = None, epoch: int = EPOCH,
) -> Any:  # fmt: skip
    """What is unchecked when requests come, by session and time (ms), while this is held; and what is stored.

    Args:
        begins: the gateway's openings. epoch: that the requests are of.
    """
    ann = SimpleNamespace(prox_id="px1live", instead="px1lost", user_id="ann")
    people: Any = SimpleNamespace(
        last_of=lambda user, epoch: ann if epoch == EPOCH else None, find=lambda prox_id: ann if known else None
    )
    sets = SimpleNamespace(forwarded_at=FORWARDED.get)
    obligations: Any = SimpleNamespace(objections={"ann": [(0, OBJECTED, 0)]}, sets=sets)
    groups: Any = SimpleNamespace(held=lambda at, prox_id, but: held.get(prox_id, []) if at == EPOCH else [])
    report, policies = Report(), Policies(trusted())
    policies.begins["gateway"] = begins or []
    objected = Objected(policies, people, obligations, report)
    if state is not None:
        objected.restore(state)
    for session, time_ms in comes:
        objected.received(epoch, session, time_ms, groups)
    objected.finish(EPOCH)
    return len(report.missing), objected.state()


@pytest.mark.parametrize("prox_id", ["px1live", "px1lost"])
def test_what_waits_after_a_request_that_was_forwarded_after_the_objection_is_told(prox_id: str) -> None:
    held = {prox_id: [ASKED]}
    missing, state = audit((EARLY, NOON), (COMES, NOON), held=held)
    assert missing == 1
    assert audit(held={}, state=state)[0] == 1  # in later audits, too
    assert audit(held={}, state=state, known=False)[0] == 0  # until the person is erased


@pytest.mark.parametrize(("comes", "held"), [
    ((EARLY, NOON), {"px1live": [ASKED]}),  # the main service may not have been told
    ((COMES, MIDNIGHT), {"px1live": [ASKED]}),  # by then it is told of the next epoch's key
    ((NEVER, NOON), {"px1live": [ASKED]}),
    ((COMES, NOON), {"px1live": [LATER]}),  # asked after that was taken back
    ((COMES, NOON), {}),
])  # fmt: skip
def test_what_may_wait_is_nobodys_fault(comes: tuple[str, int], held: dict[str, list[bytes]]) -> None:
    assert audit(comes, held=held)[0] == 0


@pytest.mark.parametrize(("opened", "comes", "held", "missing"), [
    (120, COMES, ASKED, 1),  # who asks first in the next epoch finds what nobody found in this one
    (120, COMES, LATER, 0),
    (80, COMES, ASKED, 0),  # that one had begun by then, and the main service may have been told of its key alone
    (120, EARLY, ASKED, 0),  # the gateway's log is wrong, and this shows nothing
])  # fmt: skip
def test_the_next_epoch_begins_once_all_that_was_objected_to_is_gone(
    opened: int, comes: str, held: bytes, missing: int
) -> None:
    begins = [(1, EPOCH), (opened, EPOCH + 1)]
    found = audit((comes, MIDNIGHT), held={"px1live": [held]}, begins=begins, epoch=EPOCH + 1)
    assert found[0] == missing
