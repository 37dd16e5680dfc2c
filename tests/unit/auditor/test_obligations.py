"""What rights oblige the services to: parties that were not told, and grants and deliveries under an objection."""

import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_dropped import patience
from auditor.checks.c8_obligations import Obligations
from auditor.findings import ERASURE, MAIN_SERVICE, Report
from proxid.errors import ConsentError, GroupMismatchError, RecordMismatchError
from proxid.evidence.events import Event, EventType, encode_header
from proxid.protocol.epochs import Epochs
from proxid.protocol.rights import Right

TAG, OTHER = b"t" * 16, b"o" * 16
NOTICE = "ab" * 32
HOUR, DAY = 3_600_000, 86_400


@pytest.fixture
def found() -> Iterator[Obligations]:
    people: Any = SimpleNamespace(of_prox=lambda prox: SimpleNamespace(user_id=prox.removeprefix("px1")))
    trust: Any = SimpleNamespace(clock_skew=120.0, epochs=Epochs(DAY))
    sets = Sets()
    yield Obligations(trust, people, sets)
    sets.close()


def delivered(party: str, *tags: bytes) -> Event:
    header = encode_header(epoch=7, group=1, party=party, v=2)
    return Event(1, EventType.DELIVERED, bytes(16), header, b"", tags=tags)


def erased(**fields: Any) -> Event:
    usual: dict[str, Any] = {
        "v": 2, "notices": [], "untold": [], "forgotten": [], "dropped": [], "removed": [], "feeds": [], "last": "",
    }  # fmt: skip
    return Event(9, EventType.ERASED, bytes(16), encode_header(**(usual | fields)), b"")


def test_each_party_that_got_records_must_be_told(found: Obligations) -> None:
    for party in ("acme", "globex"):
        found.delivered(delivered(party, TAG, OTHER), ())
    with pytest.raises(RecordMismatchError, match="not told"):
        found.erased(erased(notices=[f"acme:{NOTICE}"]), {TAG}, {}, None)
    # Somebody else's erasure; one party was told, the other has left and cannot be.
    found.erased(erased(notices=[f"acme:{'c' * 64}"], untold=["globex"]), {OTHER}, {}, None)


def test_a_party_that_got_nothing_need_not_be_told(found: Obligations) -> None:
    found.delivered(delivered("acme", OTHER), ())
    found.erased(erased(), {TAG}, {}, None)


@pytest.mark.parametrize("name", ["dropped", "removed"])
def test_groups_that_are_said_to_be_gone_were_dropped_or_delivered(found: Obligations, name: str) -> None:
    with pytest.raises(GroupMismatchError):
        found.erased(erased(**{name: ["7/1/acme"]}), {TAG}, {}, None)
    found.sets.dropped((7, 1, "acme"), "erased", 3)
    found.sets.delivered((7, 1, "globex"), 4)
    found.erased(erased(dropped=["7/1/acme"], removed=["7/1/globex"]), {TAG}, {}, None)


def test_under_an_objection_nothing_is_granted_or_delivered_until_it_is_taken_back(found: Obligations) -> None:
    event = Event(2, EventType.OBJECTED, bytes(16), encode_header(notices=[]), b"")

    def exercised(right: Right) -> Any:
        return SimpleNamespace(right=right, user_id="ann", time_ms=1000)

    found.objected(event, exercised(Right.OBJECT))
    with pytest.raises(ConsentError):
        found.verify_grants("ann", 1)
    with pytest.raises(ConsentError):
        found.delivered(delivered("acme"), ["px1bob", "px1ann"])
    found.verify_grants("ann", 0)  # to withdraw is always possible
    found.verify_grants("bob", 1)
    found.delivered(delivered("acme"), ["px1bob"])
    found.objected(event, exercised(Right.RESUME))
    found.verify_grants("ann", 1)
    found.delivered(delivered("acme"), ["px1bob", "px1ann"])


def test_what_the_main_service_never_carried_out_is_named_as_its_part(found: Obligations) -> None:
    found.erased(erased(forgotten=[TAG.hex()]), {TAG}, {}, None)
    report = Report()
    found.check(8, (), cast(Any, None), report)
    assert report.violations == []  # it may have come after the main service's head
    found.check(9, (), cast(Any, None), report)
    assert [(v.rule, v.log, v.event) for v in report.violations] == [(ERASURE, MAIN_SERVICE, 0)]
    assert "gateway's leaf 9" in report.violations[0].text


@pytest.mark.parametrize(("at", "due"), [(899, True), (900, False), (-1, True), (-DAY, True)])
def test_the_main_service_is_to_forget_the_newest_link_while_something_may_lie_under_it(
    found: Obligations, at: int, due: bool
) -> None:
    """By the time of the request alone, as the gateway goes by it: seconds after the end of the newest link's epoch."""
    asked: Any = SimpleNamespace(user_id="ann", time_ms=1000 * (8 * DAY + at))
    epochs, tags = {OTHER: 6, TAG: 7}, {OTHER, TAG}
    if due:
        with pytest.raises(RecordMismatchError, match="to forget"):
            found.erased(erased(), tags, epochs, asked)
        assert found.due == {TAG: 9}
    else:
        found.erased(erased(), tags, epochs, asked)
        assert found.due == {}
    found.erased(erased(forgotten=[TAG.hex()]), tags, epochs, asked)
    assert found.due == {TAG: 9}


def test_what_somebody_objects_to_weeks_later_explains_nothing_of_before(found: Obligations) -> None:
    """What was under way is recorded before the second epoch after it begins: an event of the gateway."""
    asked: Any = SimpleNamespace(right=Right.OBJECT, user_id="ann", time_ms=10**12)
    found.objected(Event(8, EventType.OBJECTED, bytes(16), encode_header(notices=[]), b""), asked)
    for until, explains in ((9, True), (8, False)):
        assert found.objects("ann", 5, until) is explains
        assert found.objected_after("ann", "", 10**12, until=until) is explains
        assert found.has_objected_since("ann", 5, until) is explains


def test_an_opening_of_the_second_epoch_after_is_where_patience_ends() -> None:
    policies: Any = SimpleNamespace(begins={"gateway": [(1, 7), (20, 9), (30, 10)]})
    assert [patience(policies, epoch) for epoch in (6, 7, 9, 10)] == [20, 30, math.inf, math.inf]


def test_who_objected_is_withheld_no_longer_than_clocks_and_the_minute_explain(found: Obligations) -> None:
    """Or if the gateway passed it on before it recorded that the objection was over, as it does once MS was told."""
    until, margin = 10**12, 60_000 + 2 * 120_000
    for number, (right, time_ms) in enumerate([(Right.OBJECT, 5), (Right.RESUME, until)], 8):
        asked: Any = SimpleNamespace(right=right, user_id="ann", time_ms=time_ms)
        found.objected(Event(number, EventType.OBJECTED, bytes(16), encode_header(notices=[]), b""), asked)
    assert found.objected_after("ann", "", until + margin) and not found.objected_after("ann", "", until + margin + 1)
    found.sets.forwarded("ab" * 32, until, 8)
    found.sets.forwarded("cd" * 32, until, 10)
    assert found.objected_after("ann", "ab" * 32, until + 10 * margin)
    assert not found.objected_after("ann", "cd" * 32, until + 10 * margin)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(1, 5), st.integers(0, 4)), max_size=12),
    st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 4), st.booleans(),
)  # fmt: skip
def test_looking_objections_up_finds_what_looking_at_each_finds(
    said: list[tuple[bool, int, int]], event: int, until: int, forwarded: int, minute: int, again: bool
) -> None:
    people, trust, sets = SimpleNamespace(), SimpleNamespace(clock_skew=30.0), Sets()
    found = Obligations(cast(Any, trust), cast(Any, people), sets)
    number, made = 0, list[tuple[int, int, int]]()
    for objects, step, when in said:
        number += step
        asked: Any = SimpleNamespace(
            right=Right.OBJECT if objects else Right.RESUME, user_id="ann", time_ms=when * HOUR
        )
        found.objected(Event(number, EventType.OBJECTED, bytes(16), encode_header(notices=[]), b""), asked)
        if objects and (not made or made[-1][0]):
            made.append((0, number, 0))
        elif not objects and made and not made[-1][0]:
            made[-1] = (number, made[-1][1], when * HOUR)
    sets.forwarded("ab" * 32, 0, forwarded)
    time_ms, margin = minute * HOUR, 60_000 + 60_000
    assert found.objects("ann", event, until) is any((not e or e > event) and b < until for e, b, _ in made)
    assert found.has_objected("ann", event) is any(b < event and (not e or e > event) for e, b, _ in made)
    assert found.has_objected_since("ann", event, until) is any(event < b < until for _, b, _ in made)
    known = any(b < forwarded and (not e or time_ms + 600_000 <= over) for e, b, over in made)
    assert found.objects_to("ann", "ab" * 32, time_ms) is known
    assert found.objected_after("ann", "ab" * 32, time_ms, again, until) is any(
        b < until and (time_ms <= over + margin or forwarded < e if e else not again) for e, b, over in made
    )
    sets.close()
