"""Cuts the utterances that the simulator ships out of MASSIVE: device_sim/data/people.tsv.gz.

The first PEOPLE users, by number, with at least ROWS utterances, and ROWS of each: real people with real texts, enough
of them for groups to form.

    python scripts/demo_corpus.py
"""

import csv
import gzip
import io
import itertools
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "data/corpora/massive_en.tsv.gz"
TARGET = ROOT / "device_sim/data/people.tsv.gz"
COLUMNS = ("id", "userid", "partition", "scenario", "intent", "text")
PEOPLE, ROWS = 200, 16


def main() -> None:
    """Write the target; the same bytes each time."""
    with gzip.open(SOURCE, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    people = defaultdict(list)
    for row in rows:
        people[row["userid"]].append(row)
    chosen = itertools.islice((p for p in sorted(people, key=int) if len(people[p]) >= ROWS), PEOPLE)
    lines = ["\t".join(COLUMNS)]
    lines += ["\t".join(row[c] for c in COLUMNS) for person in chosen for row in people[person][:ROWS]]
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode("utf-8"))
    TARGET.write_bytes(buffer.getvalue())


if __name__ == "__main__":
    main()
