"""The profile database is the sum over the feed's file, whatever happens to either (DESIGN 8.10)."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from proxid.cli.main import main
from proxid.clients.subscriber.kept import read_groups
from proxid.clients.subscriber.ledger import GroupId, Ledger
from proxid.clients.subscriber.profiles import FILE, read_profiles
from proxid.protocol.notice import Notice
from tests.unit.clients.subscriber.test_portions_again import PORTIONS, kept, opened

DAY = GroupId(7, 4)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A feed of three portions."""
    with Ledger(tmp_path / "feed.jsonl") as ledger:
        for cursor, group in enumerate(PORTIONS, 11):
            ledger.add(kept(group, cursor), opened("ann", "bob"))
    return tmp_path / "feed.jsonl"


def truth(feed: Path) -> dict[str, int]:
    return Counter(row["user"] for group in read_groups(feed) for row in group["records"])


def stored(feed: Path) -> dict[str, int]:
    with sqlite3.connect(feed.with_name(FILE)) as database:
        return dict(database.execute("SELECT user, SUM(records) FROM profiles GROUP BY user"))


def test_it_follows_what_is_added_taken_back_and_erased(path: Path) -> None:
    assert stored(path) == truth(path) == {"ann": 3, "bob": 3}
    with Ledger(path) as ledger:
        ledger.add(kept(DAY, 14), opened("cem", "ann", "dan"))
        assert stored(path) == {"ann": 4, "bob": 3, "cem": 1, "dan": 1}
        ledger.retract(PORTIONS[1], 12)
        assert stored(path) == truth(path) == {"ann": 3, "bob": 2, "cem": 1, "dan": 1}
        ledger.add(kept(PORTIONS[1], 12, 1), opened("bob"))
        ledger.note(Notice("erase", "main-service", "acme", "ann", 0, bytes(16)))
        assert stored(path) == truth(path) == {"bob": 3, "cem": 1, "dan": 1}
        for file in path.parent.glob(FILE + "*"):
            assert b"ann" not in file.read_bytes(), "nor where the database keeps what was overwritten"


@pytest.mark.parametrize("harm", ["missing", "behind", "no database"])
def test_whatever_the_database_missed_is_counted_again(path: Path, harm: str) -> None:
    database = path.with_name(FILE)
    before = database.read_bytes()
    with Ledger(path) as ledger:
        ledger.add(kept(DAY, 14), opened("cem"))
    harms: dict[str, Callable[[], object]] = {
        "missing": database.unlink,
        "behind": lambda: database.write_bytes(before),
        "no database": lambda: database.write_bytes(b"nothing of SQLite's" * 100),
    }
    harms[harm]()
    assert {user: sum(found.values()) for user, found in read_profiles(path.parent).items()} == truth(path)
    with Ledger(path):
        assert stored(path) == truth(path)


def test_shares_are_the_thesis_s(tmp_path: Path) -> None:
    """The worked example of 002 §3.3.4.3: 1 of 51 records is 1.9 %, cut off."""
    with Ledger(tmp_path / "feed.jsonl") as ledger:
        for number in range(51):
            ledger.add(kept(GroupId(7, number), number + 1), opened("ann"))
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("UPDATE profiles SET records = 50")
        database.execute("INSERT INTO profiles VALUES ('ann', 'general', 'c', 1)")
        assert database.execute("SELECT category, percent FROM shares").fetchall() == [("a/b", 98.0), ("c", 1.9)]


@pytest.mark.parametrize("layout", ["feed", "jsonl", "tsv"])
def test_profile_reads_whatever_subscribe_writes(
    path: Path,
    layout: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from proxid.clients.subscriber.command import _printer

    shown = path
    if layout != "feed":
        show = _printer(layout)
        for group in read_groups(path):
            show(group)
        shown = tmp_path / f"shown.{layout}"
        shown.write_text(capsys.readouterr().out)
    for words in (["profile", str(shown)], ["profile", "--feed", str(path.parent)]):
        assert main([*words, "--level", "2", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["profiles"]
        assert found == {user: {"records": 3, "percent": {"a/b": 100.0}} for user in ("ann", "bob")}
    assert main(["profile", "--feed", str(path.parent)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Profiles: general (others: --kind location or command)" in said
