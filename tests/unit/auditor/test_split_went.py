"""Contents of form `split` that come while somebody going is on its way to the main service (10.4 (6))."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c6_consents import Consents
from auditor.checks.c6_split import SplitDeliveries
from auditor.checks.c7_completeness import Sets
from auditor.findings import Report
from proxid.errors import RecordMismatchError
from proxid.evidence.events import Event, EventType, encode_header
from proxid.protocol.epochs import Epochs
from proxid.protocol.record import group_number

EPOCH, PARTY, AUDIENCE = 7, "acme", "general|acme:user_id"
CONTENTS, LATER = group_number("contents", 1), group_number("contents", 2)


@pytest.fixture
def split() -> Iterator[SplitDeliveries]:
    """Ann has an entry. The main service released a portion, the contents, and something else."""
    sets, report = Sets(), Report()
    policies: Any = SimpleNamespace(trust=SimpleNamespace(epochs=Epochs(86_400)), longest=lambda _: 10_800.0)
    people: Any = SimpleNamespace()
    found = SplitDeliveries(policies, people, sets, Consents(), report)
    found._entered["ann"] = {(PARTY, EPOCH, AUDIENCE)}
    for number, group in enumerate((1, CONTENTS, LATER), 1):
        sets.released((EPOCH, group, PARTY), number)
    sets.delivered((EPOCH, 1, PARTY), 1)
    yield found
    sets.close()


def sent(split: SplitDeliveries, group: int, number: int) -> None:
    header = encode_header(epoch=EPOCH, group=group, party=PARTY, audience=AUDIENCE)
    split.sent(Event(number, EventType.SENT, bytes(16), header, b""))


@pytest.mark.parametrize(
    ("last", "found"), [(f"{EPOCH}/1/{PARTY}", 0), (f"{EPOCH}/{CONTENTS}/{PARTY}", 1), ("", 1)], ids=str
)
def test_what_came_before_an_objection_was_recorded_may_have_come_after_it(
    split: SplitDeliveries, last: str, found: int
) -> None:
    """The main service was away: an objection is recorded after what came since, and says what had come before it."""
    sent(split, LATER, 5)
    split.objected("ann", 6, int((EPOCH + 1) * 86_400_000), last)
    sent(split, CONTENTS, 7)
    split.finish(EPOCH + 1, {})
    assert len(split._report.violations) == found


@pytest.mark.parametrize(("hours", "barred"), [(5.8, False), (6.0, True)])
def test_contents_are_on_their_way_for_as_long_as_the_epochs_grace_says(
    split: SplitDeliveries, hours: float, barred: bool
) -> None:
    split.objected("ann", 6, int((EPOCH + 1) * 86_400_000 + hours * 3_600_000), "")
    assert bool(split._barred) is barred


def test_a_last_release_that_is_none_is_malformed(split: SplitDeliveries) -> None:
    with pytest.raises(ValueError, match="unpack"):
        split.objected("ann", 6, 0, "nothing")


def test_the_audience_of_a_portion_is_said_once(split: SplitDeliveries) -> None:
    """What a later event says right does not cover what one before it said wrong."""
    named = {"epoch": EPOCH, "group": group_number("entries", 1), "party": PARTY}
    fields: dict[str, Any] = {**named, "entries": ["aa"], "left": 1, "reason": "erased"}
    said = [
        Event(number, EventType.DROPPED, bytes(16), encode_header(audience=audience, **fields), b"")
        for number, audience in ((8, AUDIENCE), (9, f"{AUDIENCE}x"))
    ]
    split.dropped(said[0])
    with pytest.raises(RecordMismatchError):
        split.dropped(said[1])


def test_a_gateway_of_before_drops_the_portions_of_a_party_that_left_whole(split: SplitDeliveries) -> None:
    named = {"epoch": EPOCH, "group": group_number("entries", 1), "party": PARTY, "audience": AUDIENCE}
    left, taken_back = (
        Event(8, EventType.DROPPED, bytes(16), encode_header(reason=reason, **named), b"")
        for reason in ("party_left", "withdrawn")
    )
    assert split.dropped(left)
    with pytest.raises(RecordMismatchError):
        split.dropped(taken_back)
