"""A consent that comes between the close at which a group formed and its release takes nothing back (check 6).

Nothing tells of such a close before the release does: what the main service has put into a group waits no more.
"""

from dataclasses import replace
from typing import Any

import pytest

from auditor.checks.c5_groups import Groups
from auditor.checks.c5_spill import Spill
from auditor.checks.c6_taken_back import TakenBack
from auditor.checks.c7_completeness import Sets
from auditor.findings import Report
from auditor.policies import Policies
from proxid.anonymise.mix.cycle import seed_commitment
from proxid.anonymise.slotted.types import SlotSettings
from proxid.errors import ConsentError
from proxid.evidence.disclosure import disclosure_info
from proxid.evidence.events import BufferedPayload, Event, EventType, encode_header
from tests.support.scene import MS
from tests.unit.auditor.test_expired_events import trusted

EPOCH = 10
START = EPOCH * 86_400
NOBODY: Any = None


class Told:
    """Two commands wait in one slot, and one of their people takes the consent back."""

    def __init__(self) -> None:
        trust = replace(trusted(), slots={"command": SlotSettings(k=2, margin=0, widths=(900.0,), depth=4)})
        self.policies = policies = Policies(trust)
        self.report = Report()
        self.groups = Groups(policies, Spill(Sets(None)))
        self.check = TakenBack(policies, NOBODY, self.groups, NOBODY, self.report)
        seed = bytes(32)
        sealed = trust.opening.public.seal(seed, disclosure_info(MS, EPOCH))
        self.groups.opened(EPOCH, seed_commitment(seed, EPOCH, MS), sealed)
        slots = self.groups.slots(EPOCH, "command")
        for number in (1, 2):
            slots.buffer(
                BufferedPayload(
                    bytes([number]) * 64, f"px{number}", True, "acme", "command", b"", "one/1",
                    ("iot@anywhere", "on", "light", "none"), ("", ""), (START + number) * 1000,
                )
            )  # fmt: skip
        self.check.consented(EPOCH, "px1", "nothing")

    def told(self, event_type: EventType, number: int, **fields: Any) -> "Told":
        said: dict[str, Any] = {"epoch": EPOCH, "kind": "command", "session": (bytes([number]) * 64).hex()} | fields
        self.check.verify_done(Event(1, event_type, bytes(16), encode_header(**said), b""))
        return self


def test_a_group_may_have_formed_before_and_leave_after() -> None:
    told = Told().told(EventType.RELEASED, 0, close=str(START + 900.0))
    told.told(EventType.SUPPRESSED, 1, reason="restriction", close=str(START + 900.0))
    told.check.finish(EPOCH)
    assert told.report.violations == []


def test_so_it_may_where_the_log_is_read_so_far() -> None:
    told = Told()
    told.check.finish(EPOCH)
    assert told.report.violations == []


@pytest.mark.parametrize(
    ("kind", "number", "fields"),
    [
        (EventType.RAISED, 1, {"close": "864900.0"}),
        (EventType.RAISED, 2, {"close": "864900.0"}),
        (EventType.SUPPRESSED, 1, {"close": "864900.0", "reason": "too_few"}),
        (EventType.WITHDRAWN, 1, {}),
    ],
)
@pytest.mark.parametrize("between", ["an event", "an audit", ""])
def test_what_waits_on_was_kept(kind: EventType, number: int, fields: dict[str, str], between: str) -> None:
    told = Told()
    if between == "an audit":
        told.check.finish(EPOCH)
        before, told.check = told.check, TakenBack(told.policies, NOBODY, told.groups, NOBODY, told.report)
        told.check.restore(before.state())
    elif between or kind is EventType.WITHDRAWN:
        told.told(EventType.RECEIVED, 9)
    with pytest.raises(ConsentError):
        told.told(kind, number, **fields)
