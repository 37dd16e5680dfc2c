"""What an auditor leaves is plain data of declared types, and comes back as it was."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.plain import dumps, form, loads
from auditor.saved import Saved


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Row(NamedTuple):
    name: str
    colour: Colour


@dataclass(frozen=True)
class Box:
    rows: list[Row]
    best: Row | None
    seen: dict[tuple[str, int], frozenset[bytes]]
    size: float
    path: tuple[str, ...] = ()


TEXT = st.text(st.characters(), max_size=5)  # lone surrogates too
ROW = st.builds(Row, TEXT, st.sampled_from(Colour))
BOX = st.builds(
    Box, st.lists(ROW, max_size=3), st.none() | ROW,
    st.dictionaries(st.tuples(TEXT, st.integers()), st.frozensets(st.binary(max_size=4), max_size=3), max_size=3),
    st.floats(allow_nan=False) | st.integers(), st.lists(TEXT, max_size=3).map(tuple),
)  # fmt: skip


@given(BOX)
def test_value_comes_back_and_is_written_alike(one: Box) -> None:
    data = dumps(Box, one)
    back = loads(Box, data)
    assert back == one and type(back.size) is type(one.size) and list(back.seen) == list(one.seen)
    assert all(isinstance(row, Row) and isinstance(row.colour, Colour) for row in back.rows)
    assert dumps(Box, back) == data


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (int, "true"), (int, '"1"'), (bool, "1"), (str, "1"), (float, '"x"'), (bytes, '"***"'), (bytes, "1"),
        (list[int], "1"), (list[int], '["x"]'), (set[str], '{"a":1}'), (tuple[int, int], "[1]"), (int | None, '""'),
        (dict[str, int], '[["a"]]'), (Colour, '"green"'), (Colour, "1"), (Row, '["a"]'), (Box, "[]"), (Box, "{}"),
        (Saved, "[]"), (list[int], "[" * 100_000), (int, b"\x80\x05}."),
    ],
)  # fmt: skip
def test_data_of_another_type_is_refused(kind: Any, data: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(kind, data)


def test_type_without_a_form_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError):
        form(object)


def test_data_is_ascii_and_names_no_code() -> None:
    data = dumps(Box, Box([Row("ä", Colour.RED)], None, {("a", 1): frozenset({b"\xff"})}, 1.5))
    assert json.loads(data) == [[["ä", "red"]], None, [[["a", 1], ["/w=="]]], 1.5, []]
    assert data.isascii() and b"Row" not in data
