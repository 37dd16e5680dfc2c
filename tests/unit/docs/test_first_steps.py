"""What docs/first-steps.md has people type is taken, and what it says that they see stands in the code."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from tests.unit.docs.test_operations import verify_taken

ROOT = Path(__file__).resolve().parents[3]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "docs/first-steps.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and "`proxid " in line
]
TYPED = [command for row in ROWS for command in re.findall(r"`(proxid [^`]+)`", " ".join(row))]
SEEN = [said for row in ROWS for said in re.findall(r"“(.+?)”(?=[\s,;:.|]|$)", row[-1])]
OWN = re.compile(
    r"\S+/\S+|\S+\.admission|…|ann|bob|acme|device|home|auditor|main-service|everything|nothing|2026\S*|\d+(?:,\d+)?"
    r"|[:;()]|, "
)
"""What is somebody's own in what they see, a number, or put between parts of a sentence."""
SHORT = 6


@pytest.mark.parametrize("line", TYPED)
def test_what_is_typed_is_taken(line: str) -> None:
    verify_taken(shlex.split(line)[1:])


@cache
def source() -> str:
    """Every word of the packages, blanks made one; what is put into a text later stands as a blank."""
    files = [
        path
        for folder in ("proxid", "device_sim", "auditor", "gateway", "main_service")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".toml"}
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    text = re.sub(r"""["']\s*\n\s*f?["']""", "", text)
    return " ".join(re.sub(r"{[^{}\n]*}", " ", text).replace('\\"', '"').split())


@pytest.mark.parametrize("said", SEEN)
def test_what_is_seen_stands_in_the_code(said: str) -> None:
    parts = [" ".join(part.split()).strip(".,") for part in OWN.split(said)]
    assert [part for part in parts if len(part) > SHORT and part not in source()] == []


def test_there_are_some() -> None:
    assert len(TYPED) > 25 and len(SEEN) > 20
