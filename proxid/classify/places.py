"""Names of places: what kind each is, the region it lies in, and how large it is.

`places.tsv.gz`: name, kind (city, state, country, continent), region, grade (1 small .. 3 large). From GeoNames
(CC BY 4.0), by scripts/models/places.py. A city generalises to its state or country, a state to its country.
"""

import gzip
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

LONGEST = 4
"""Words of the longest name that is looked for."""


class Place(NamedTuple):
    """A named place; several of one name are represented by the largest."""

    kind: str
    region: str
    grade: int


@cache
def load() -> dict[str, Place]:
    """Every place by its lower-case name."""
    raw = gzip.decompress((files("proxid.classify") / "data" / "places.tsv.gz").read_bytes()).decode()
    result = {}
    for line in raw.split("\n"):
        name, kind, region, grade = line.split("\t")
        result[name] = Place(kind, region, int(grade))
    return result


@cache
def longest_from() -> dict[str, int]:
    """Words of the longest name that begins with a word, at most LONGEST; only names of several words count."""
    result: dict[str, int] = {}
    for name in load():
        words = name.split(" ")
        if len(words) > 1:
            result[words[0]] = max(result.get(words[0], 0), min(len(words), LONGEST))
    return result


def within(words: Sequence[str], places: dict[str, Place]) -> list[tuple[int, int, Place]]:
    """Places named in a sequence of words: first and last index and the place; longest first, no overlaps."""
    found = []
    longest = longest_from()
    i = 0
    while i < len(words):
        for n in range(min(longest.get(words[i], 1), len(words) - i), 0, -1):
            place = places.get(" ".join(words[i : i + n]) if n > 1 else words[i])
            if place:
                found.append((i, i + n - 1, place))
                i += n - 1
                break
        i += 1
    return found
