"""What is known of a word: how often it is a given name, a surname, and an ordinary English word.

One file, `gazetteer.tsv.gz`: word, given-name grade, surname grade, word grade (0 none .. 5 very common). Given names
from the US Social Security Administration, surnames from the US Census Bureau (public domain); ordinary words from
WordNet 3.1 and the training splits (scripts/models/gazetteer.py).
"""

import gzip
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Grades(NamedTuple):
    """Grades of one word, 0..5 each."""

    given: int
    surname: int
    common: int


UNKNOWN = Grades(0, 0, 0)


@cache
def load() -> dict[str, Grades]:
    """Every known word."""
    raw = gzip.decompress((files("proxid.classify") / "data" / "gazetteer.tsv.gz").read_bytes()).decode()
    pool = {f"{a}{b}{c}": Grades(a, b, c) for a in range(6) for b in range(6) for c in range(6)}
    return {line[:-4]: pool[line[-3:]] for line in raw.split("\n")}
