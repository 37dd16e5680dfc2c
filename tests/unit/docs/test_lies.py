"""docs/evidence.md names every lie that the tests tell, and the check that finds it."""

from pathlib import Path

from tests.support.lies_table import table

TEXT = (Path(__file__).resolve().parents[3] / "docs/evidence.md").read_text(encoding="utf-8")


def test_every_lie_stands_in_the_table() -> None:
    assert table() in TEXT, "python -m tests.support.lies_table prints it anew"
