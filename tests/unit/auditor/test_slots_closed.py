"""What a close of slots does is said before the next one: all of it stands in one step of the main service's."""

from dataclasses import replace

import pytest

from auditor.checks.c5_groups import Groups
from auditor.checks.c5_slots import SlotState
from auditor.checks.c5_spill import Spill
from auditor.checks.c7_completeness import Sets
from auditor.plain import dumps, loads
from auditor.policies import Policies
from proxid.anonymise.mix.cycle import seed_commitment
from proxid.anonymise.slotted.types import SlotSettings
from proxid.errors import GroupMismatchError
from proxid.evidence.disclosure import disclosure_info
from proxid.evidence.events import BufferedPayload
from tests.support.scene import MS
from tests.unit.auditor.test_expired_events import trusted

EPOCH = 10
START = EPOCH * 86_400
ALONE = bytes(64)
NODE = ("iot@anywhere", "on", "light", "none")


@pytest.fixture
def groups() -> Groups:
    """Somebody waits alone, and moves up at each end of a slot."""
    trust = replace(trusted(), slots={"command": SlotSettings(k=2, margin=0, widths=(900.0, 1800.0, 3600.0), depth=4)})
    found, seed = Groups(Policies(trust), Spill(Sets(None))), bytes(32)
    sealed = trust.opening.public.seal(seed, disclosure_info(MS, EPOCH))
    found.opened(EPOCH, seed_commitment(seed, EPOCH, MS), sealed)
    found.slots(EPOCH, "command").buffer(
        BufferedPayload(ALONE, "px1", True, "acme", "command", b"", "one/1", NODE, ("", ""), (START + 1) * 1000)
    )
    return found


def close(groups: Groups, number: int, *, told: bool = True) -> None:
    slots = groups.slots(EPOCH, "command", str(START + 900.0 * number))
    assert loads(SlotState, dumps(SlotState, slots.state())) == slots.state()
    if told:
        slots.verify_raised(ALONE, (NODE[: 5 - number], NODE[: 4 - number]))


def test_what_moved_up_is_said_at_each_close(groups: Groups) -> None:
    for number in (1, 2):
        close(groups, number)


def test_what_moved_up_at_a_close_is_said_before_the_next(groups: Groups) -> None:
    close(groups, 1, told=False)
    close(groups, 1, told=False)  # another event of the same close
    with pytest.raises(GroupMismatchError, match="left records behind"):
        close(groups, 2)


def test_nothing_waits_in_an_epoch_that_was_closed(groups: Groups) -> None:
    close(groups, 1)
    with pytest.raises(GroupMismatchError, match="not given up"):
        groups.closed(EPOCH)
    groups.withdrawn(EPOCH, ALONE, "command", False)
    groups.closed(EPOCH)


def test_of_what_cannot_be_read_nobody_knows_that_it_waits(groups: Groups) -> None:
    groups.blinded(EPOCH, "command")
    groups.closed(EPOCH)
