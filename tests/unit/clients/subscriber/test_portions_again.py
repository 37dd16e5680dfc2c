"""A portion that the gateway cut is taken back, and the feed goes on before it, also after a crash (DESIGN 8.11, 9)."""

from dataclasses import replace
from pathlib import Path

import pytest

from proxid.clients.subscriber.group import OpenedRecord
from proxid.clients.subscriber.kept import read_groups
from proxid.clients.subscriber.ledger import GroupId, Kept, Ledger
from proxid.protocol.entry import portion_number
from proxid.protocol.record import group_number
from tests.unit.clients.subscriber.test_feed import BODY

PORTIONS = [GroupId(7, portion_number(tick, 1)) for tick in (1, 2, 3)]
CONTENTS = GroupId(7, group_number("contents", 1))


def kept(group: GroupId, cursor: int, digest: int = 0) -> Kept:
    return Kept(group, cursor, bytes([digest]) * 32)


def opened(*users: str) -> list[OpenedRecord]:
    return [OpenedRecord(user, "user_id", replace(BODY, rung=2, text="")) for user in users]


def rows(path: Path, group: GroupId) -> list[str]:
    return [row["user"] for found in read_groups(path) if found["group"] == group.group for row in found["records"]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A feed of three portions."""
    path = tmp_path / "feed.jsonl"
    with Ledger(path) as ledger:
        for cursor, group in enumerate(PORTIONS, 11):
            ledger.add(kept(group, cursor), opened("ann", "bob"))
        assert ledger.cursor == 13
    return path


def test_the_feed_goes_on_before_a_portion_that_was_taken_back(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.retract(PORTIONS[1], 12)
        assert (ledger.cursor, ledger.has(PORTIONS[1])) == (11, False)
    with Ledger(path) as ledger:  # a crash before anything else was written
        assert (ledger.cursor, ledger.has(PORTIONS[1]), ledger.has(PORTIONS[2])) == (11, False, True)
        ledger.add(kept(PORTIONS[1], 12, 1), opened("bob"))
        assert ledger.cursor == 12, "what came after it comes again, and is had"
    with Ledger(path) as ledger:
        assert ledger.cursor == 12
        assert ledger.kept[PORTIONS[1]] == kept(PORTIONS[1], 12, 1)
    assert [rows(path, group) for group in PORTIONS] == [["ann", "bob"], ["bob"], ["ann", "bob"]]


def test_the_feed_goes_on_before_the_first_of_several(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.retract(PORTIONS[0], 11)
        ledger.retract(PORTIONS[2], 13)
        assert ledger.cursor == 10
    with Ledger(path) as ledger:
        assert ledger.cursor == 10
        ledger.add(kept(PORTIONS[0], 11), opened("bob"))
    with Ledger(path) as ledger:
        assert (ledger.cursor, ledger.has(PORTIONS[2])) == (11, False)


def test_what_was_taken_back_is_not_in_the_file(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.add(kept(GroupId(7, 4), 14), opened("cem"))
        for group, cursor in ((PORTIONS[0], 11), (PORTIONS[1], 12), (PORTIONS[2], 13)):
            ledger.retract(group, cursor)
        assert "ann" not in path.read_text()
        ledger.retract(GroupId(7, 4), 14)
    assert "cem" not in path.read_text()
    assert read_groups(path) == []


@pytest.mark.parametrize("group", [GroupId(7, 4), CONTENTS])
def test_a_group_or_contents_that_were_taken_back_do_not_come_again(path: Path, group: GroupId) -> None:
    with Ledger(path) as ledger:
        ledger.add(kept(group, 14), [])
        ledger.retract(group, 14)
        assert (ledger.cursor, ledger.has(group)) == (14, True)
    with Ledger(path) as ledger:
        assert (ledger.cursor, ledger.has(group)) == (14, True)
