"""Slots in rounds: whatever people ask, a group hides each of its people, and so do those who were left over."""

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.anonymise.slotted.closing import close, enter
from proxid.anonymise.slotted.types import Closing, SlotReason, SlotRecord, SlotSettings, Waiting
from proxid.anonymise.split.draws import Draws

SETTINGS = SlotSettings(k=2, margin=1, widths=(10.0, 20.0, 40.0), depth=3)
DRAWS = Draws(bytes(range(32)))
RECORDS = st.lists(
    st.tuples(st.integers(0, 11), st.booleans(), st.sampled_from(["x", "y", "z"]), st.floats(0, 9.5)), max_size=60
)  # fmt: skip
Asked = list[tuple[int, bool, str, float]]


def _due(asked: Asked) -> list[Waiting]:
    records = (
        SlotRecord(i.to_bytes(4, "big"), f"p{person}", person > 1, "all", ("a", "b", leaf), "", time)
        for i, (person, _, leaf, time) in enumerate(asked)
    )
    return [enter(record, i + 1, SETTINGS, 1000.0) for i, record in enumerate(records)]


def _closed(asked: Asked) -> Closing:
    return close(_due(asked), 10.0, SETTINGS, 1000.0, DRAWS.place)


@given(RECORDS)
@settings(max_examples=300, deadline=None)
def test_groups_are_of_distinct_people_and_large_enough(asked: Asked) -> None:
    done = _closed(asked)
    for group in done.groups:
        people = {record.person for record in group.members}
        assert len(people) == len(group.members)
        assert len({record.person for record in group.members if record.seasoned}) >= SETTINGS.n
    ended = [record.id for group in done.groups for record in group.members] + [g.record.id for g in done.given_up]
    assert sorted([*ended, *(w.record.id for w, _ in done.lifted)]) == [i.to_bytes(4, "big") for i in range(len(asked))]


@given(RECORDS)
@settings(max_examples=300, deadline=None)
def test_those_left_over_hide_each_other(asked: Asked) -> None:
    done = _closed(asked)
    seen = {record.person for group in done.groups for record in group.members}
    seen |= {gone.record.person for gone in done.given_up}  # of later rounds at nodes that left
    over = {w.record.person for w, _ in done.lifted if w.record.seasoned}
    if done.groups and done.lifted:
        assert len(over - seen) >= SETTINGS.n
    left = {group.node for group in done.groups}
    assert not left & {source for _, source in done.lifted}  # nothing of a node that left moves up
    assert {gone.record.path for gone in done.given_up if gone.reason is SlotReason.TOO_FEW} <= left


@given(RECORDS, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_rounds_do_not_depend_on_times(asked: Asked, random: object) -> None:
    """Whoever exchanges the times of one person's records at a node changes no round."""
    by_place: dict[tuple[int, str], list[int]] = defaultdict(list)
    for i, (person, _, leaf, _) in enumerate(asked):
        by_place[person, leaf].append(i)
    times = [time for *_, time in asked]
    for places in by_place.values():
        drawn = [times[i] for i in places]
        random.shuffle(drawn)  # type: ignore[attr-defined]
        for i, time in zip(places, drawn, strict=True):
            times[i] = time
    moved = [(*said[:3], time) for said, time in zip(asked, times, strict=True)]
    ids = [[sorted(record.id for record in group.members) for group in _closed(a).groups] for a in (asked, moved)]
    assert ids[0] == ids[1]
