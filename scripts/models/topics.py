"""Queries with their IAB category, made from topics.txt: the labelled text that the category model adds to category_train.tsv."""

import random
import re
from pathlib import Path

_SLOT = re.compile(r"\{(\w+)\}")
FILLS = 10
"""Queries made from one line with a slot."""


def queries(seed: int = 3, fills: int = FILLS) -> list[tuple[str, str]]:
    """(query, category path) pairs, without repetitions."""
    rng = random.Random(seed)
    lists: dict[str, list[str]] = {"name": _NAMES, "surname": _SURNAMES}
    category = ""
    made: dict[str, str] = {}
    for line in (Path(__file__).parent / "topics.txt").read_text().splitlines():
        if line.startswith("%"):
            name, _, values = line[1:].partition(" = ")
            lists[name] = values.split("; ")
        elif line.startswith("@"):
            category = line[1:]
        elif line and not line.startswith("#"):
            for _ in range(fills if "{" in line else 1):
                made.setdefault(_filled(line, lists, rng), category)
    return list(made.items())


def _filled(line: str, lists: dict[str, list[str]], rng: random.Random) -> str:
    while _SLOT.search(line):
        line = _SLOT.sub(lambda m: rng.choice(lists[m[1]]), line, count=1)
    return line


_NAMES = "emma noah olivia liam maria ahmed katrina harvey irma sandy andrew sofia lucas mia".split()
_SURNAMES = "smith garcia miller kowalski o'brien nguyen rossi schmidt cohen ivanov singh larsen moreau".split()
