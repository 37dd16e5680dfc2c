"""Looking a string up finds every string, whatever the top bit of its hash."""

from proxid.lab.logs.strings import StringTable


def test_every_string_is_found_and_no_other() -> None:
    table = StringTable(f"name {i}" for i in range(500))
    assert [table.find(f"name {i}") for i in range(500)] == list(range(500))
    assert {table.find(f"other {i}") for i in range(500)} == {-1}
