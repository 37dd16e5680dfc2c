"""A seed that a long suite is told and cannot read is an error: it would play something else, or nothing."""

import pytest

from tests.support.chosen import again_of, number, seeds


@pytest.mark.parametrize(("text", "chosen"), [("0:200", range(200)), ("7", range(7, 8)), ("3:4", range(3, 4))])
def test_seeds_are_a_range_without_its_end_or_one(monkeypatch: pytest.MonkeyPatch, text: str, chosen: range) -> None:
    monkeypatch.setenv("PROXID_ANY", text)
    assert seeds("PROXID_ANY", "0:2") == chosen
    monkeypatch.delenv("PROXID_ANY")
    assert seeds("PROXID_ANY", "0:2") == range(2)


@pytest.mark.parametrize("text", ["", "0-29", "a", "4:", ":4", "4:4", "5:4", "1,2", "-1"])
def test_anything_else_is_an_error_that_names_the_variable(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("PROXID_ANY", text)
    with pytest.raises(ValueError, match="PROXID_ANY"):
        seeds("PROXID_ANY", "0:2")


@pytest.mark.parametrize("text", ["", "1-2", "0:20", "x", "-1"])
def test_a_number_is_one_number(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("PROXID_ANY", "12")
    assert number("PROXID_ANY", 1) == 12
    monkeypatch.setenv("PROXID_ANY", text)
    with pytest.raises(ValueError, match="PROXID_ANY"):
        number("PROXID_ANY", 1)


def test_a_file_is_named_from_the_repositorys_root() -> None:
    assert again_of(__file__, slow=False) == "tests/unit/support/test_chosen.py"
    assert again_of(__file__, slow=True) == "-m slow tests/unit/support/test_chosen.py"
