"""What a party got against what was released: whatever differs is told, whatever was dropped or erased is not."""

import sqlite3
from collections.abc import Callable

import pytest

from auditor.checks.c7_shown import SCHEMA, Shown, ShownSets, differ
from proxid.encoding import encode

IDS = tuple(bytes([n]) * 16 for n in range(4))
RELEASED = Shown({place: place * 2 for place in IDS})
PLACE = (7, 3, "acme")


def only(*ids: bytes, unread: int = 0) -> Shown:
    return Shown({place: RELEASED.records[place] for place in ids}, unread)


@pytest.mark.parametrize(("got", "gone", "sent"), [
    (RELEASED, (), None),
    (RELEASED, (), IDS),
    (only(*IDS[1:]), IDS[:1], IDS),
    (only(*IDS[2:]), IDS[:2], IDS[1:]),
    (only(*IDS[1:], unread=1), (), IDS),
    (only(*IDS[2:], unread=1), IDS[:1], IDS),
    (Shown({}), IDS, None),
])  # fmt: skip
def test_what_was_dropped_or_erased_is_not_missed(got: Shown, gone: tuple[bytes, ...], sent: object) -> None:
    assert not differ(RELEASED, got, gone, sent)  # type: ignore[arg-type]
    hidden = Shown({place: name for place, name in RELEASED.records.items() if place != IDS[3]}, 1)
    assert not differ(hidden, got, gone, sent)  # type: ignore[arg-type]


@pytest.mark.parametrize(("got", "gone", "sent"), [
    (only(*IDS[1:]), (), IDS),
    (RELEASED, IDS[:1], IDS),
    (only(*IDS[1:]), (bytes(15) + b"x",), IDS),
    (only(*IDS[2:]), (IDS[0], IDS[0]), IDS),
    (Shown({**RELEASED.records, IDS[0]: b"y" * 32}), (), IDS),
    (Shown({**RELEASED.records, b"x" * 16: bytes(32)}), (), IDS),
    (only(*IDS, unread=1), (), IDS),
    (RELEASED, (), IDS[1:]),
    (RELEASED, (), (*IDS, b"x" * 16)),
])  # fmt: skip
def test_whatever_differs_is_told(got: Shown, gone: tuple[bytes, ...], sent: tuple[bytes, ...]) -> None:
    assert differ(RELEASED, got, gone, sent)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("lied", [False, True])
def test_whichever_log_is_read_first(lied: bool, late: bool) -> None:
    """An audit that goes on from a state may have read the release before."""
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    sets = ShownSets(db)
    steps: list[Callable[[], object]] = [
        lambda: sets.sent(PLACE, [place.hex() for place in IDS]),
        lambda: sets.dropped(PLACE, [IDS[0].hex()], 3),
        lambda: sets.delivered(PLACE, only(*IDS[2 if lied else 1 :])),
    ]
    steps.insert(0 if late else 3, lambda: sets.released(PLACE, RELEASED))
    for step in steps:
        step()
    assert db.execute("SELECT differs, released, delivered, sent, gone FROM shown").fetchall() == [
        (int(lied), None, None, encode(IDS[0]), None)
    ]
