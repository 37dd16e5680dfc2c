"""Files that are files: nothing else that stands in their place is waited for or taken for one."""

import os
from pathlib import Path

import pytest

from proxid.errors import MALFORMED
from proxid.jsontext import load_json
from proxid.regular import open_regular, regular_bytes, regular_text
from tests.support.fuzzing.places import PLACES

TAKEN = {"a link to it"} | ({"closed to its reader"} if os.geteuid() == 0 else set())


@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_file_is_an_error_of_the_system_at_once(tmp_path: Path, place: str) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"one\r\ntwo")
    PLACES[place](path)
    if place in TAKEN:
        assert (regular_bytes(path), regular_text(path)) == (b"one\r\ntwo", "one\ntwo")
        return
    for read in (open_regular, regular_bytes, regular_text):
        with pytest.raises(OSError, match=str(path)):
            read(path)


@pytest.mark.parametrize(
    "text",
    [
        '"\\ud800"', b'"\\uDfff"', b'"\xed\xa0\x80"', '{"\\udc00": 1}', "[" * 100_000, b"\xff\xfe[\x00]\x00", "",
        "1" * 5_000,
    ],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_a_json_text_that_nobody_can_use_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        load_json(text)


def test_pairs_of_surrogates_and_a_mark_are_read_and_lone_ones_for_whoever_asks() -> None:
    assert load_json(b'\xef\xbb\xbf"\\ud83d\\ude00"') == "\N{GRINNING FACE}"
    assert load_json('"\\ud800"', any_text=True) == "\ud800"


@pytest.mark.parametrize(
    "use",
    ["[][0]", "{}['x']", "1 .x", "int('x')", "int(float('inf'))", "'\\ud800'.encode()", "10**400 * 1.0"],
)
def test_what_python_raises_of_values_that_are_none_is_known(use: str) -> None:
    with pytest.raises(MALFORMED):
        eval(use)
