"""A release that does not open whole: its group leaves the replay, and what can be read of it is compared."""

from typing import Any, cast

import pytest

from auditor.checks.c5_slots import SlotReplay
from proxid.anonymise.mix.cycle import CycleSource
from proxid.anonymise.slotted.types import SlotGroup, SlotRecord
from proxid.errors import GroupMismatchError
from proxid.evidence.events import ReleasedPayload
from proxid.protocol.record import group_number

CYCLES = CycleSource(bytes(32))
PLACE = (1, group_number("command", 1))


def group(name: str) -> SlotGroup:
    members = tuple(SlotRecord(f"{name}{i}".encode(), f"{name}{i}", True, "command|a", (), "", 0.0) for i in range(4))
    return SlotGroup("command|a", (), 0.0, 1.0, members, False)


def replay() -> SlotReplay:
    return SlotReplay(cast(Any, None), cast(Any, None), formed=[group("first"), group("second")])


def shown(of: SlotGroup, hidden: int) -> ReleasedPayload:
    """The release of a group of which one member was erased."""
    members = [of.members[i] for i in CYCLES.draw(PLACE[1], len(of.members))[1]]
    records = tuple(b"" if i == hidden else m.id for i, m in enumerate(members))
    return ReleasedPayload(records, tuple("" if i == hidden else m.person for i, m in enumerate(members)), ())


@pytest.mark.parametrize("payload", [shown(group("first"), 2), None])
def test_its_group_leaves_the_replay(payload: ReleasedPayload | None) -> None:
    found = replay()
    found.release_unread(CYCLES, PLACE, payload)
    assert [g.members[0].person for g in found.formed] == ["second0"]


@pytest.mark.parametrize(
    "payload",
    [
        shown(group("second"), 2),
        ReleasedPayload(shown(group("first"), 2).records[::-1], shown(group("first"), 2).published, ()),
        ReleasedPayload((b"",) * 3, ("",) * 3, ()),
    ],
)
def test_what_can_be_read_must_be_the_groups(payload: ReleasedPayload) -> None:
    with pytest.raises(GroupMismatchError):
        replay().release_unread(CYCLES, PLACE, payload)


@pytest.mark.parametrize("number", [2, 7])
def test_it_has_the_number_that_it_formed_with(number: int) -> None:
    found = replay()
    with pytest.raises(GroupMismatchError):
        found.release_unread(CYCLES, (1, group_number("command", number)), None)
    found.release_unread(CYCLES, (1, group_number("command", 2)), None)


def test_there_must_be_a_group() -> None:
    found = replay()
    found.formed.clear()
    with pytest.raises(GroupMismatchError):
        found.release_unread(CYCLES, PLACE, None)
