"""WordNet 3.1's nouns as arrays: the taxonomy τ of 000 §3.3 and its index of concept labels.

A concept is a number into the synset arrays. Hypernyms of instances ("Paris" is an instance of a city) count as
hypernyms. The artefact is rebuilt by `scripts/build_wordnet.py`; licence in NOTICE.
"""

import functools
from dataclasses import dataclass
from importlib import resources

import numpy as np
import numpy.typing as npt

from proxid.errors import InputError

Ints = npt.NDArray[np.int32]
ARTEFACT = "wordnet31_noun.npz"


def _lines(array: npt.NDArray[np.uint8]) -> list[str]:
    return bytes(array).decode().split("\n")


@dataclass(frozen=True)
class WordNet:
    """The noun taxonomy: `parent[parent_start[c]:parent_start[c+1]]` are the hypernyms of concept c."""

    lemmas: list[str]
    row: dict[str, int]
    sense_start: Ints
    sense: Ints
    parent_start: Ints
    parent: Ints
    child_start: Ints
    child: Ints
    label_row: Ints
    tag_counts: dict[str, tuple[int, int, int, int]]
    exceptions: dict[str, str]

    def __len__(self) -> int:
        return len(self.label_row)

    def senses(self, lemma: str) -> Ints:
        """Concepts that a lower-case label with underscores names, most frequent first; may be empty."""
        row = self.row.get(lemma)
        if row is None:
            return self.sense[:0]
        return self.sense[self.sense_start[row] : self.sense_start[row + 1]]

    def label(self, concept: int) -> str:
        """The first label of a concept, words parted by spaces."""
        return self.lemmas[int(self.label_row[concept])].replace("_", " ")

    def name(self, concept: int) -> str:
        """A readable unique name of a concept: `disease.n.01`."""
        lemma = self.lemmas[int(self.label_row[concept])]
        number = self.senses(lemma).tolist().index(concept) + 1
        return f"{lemma}.n.{number:02d}"

    def concept(self, name: str) -> int:
        """The concept with a name such as `disease.n.01`; raises InputError for an unknown name."""
        lemma, _, number = name.rpartition(".n.")
        senses = self.senses(lemma)
        if not number.isdecimal() or not 1 <= int(number) <= len(senses):
            raise InputError("a concept is named as WordNet 3.1 has it, e.g. disease.n.01")
        return int(senses[int(number) - 1])

    def parents(self, concept: int) -> Ints:
        """Direct hypernyms."""
        return self.parent[self.parent_start[concept] : self.parent_start[concept + 1]]

    def children(self, concept: int) -> Ints:
        """Direct hyponyms."""
        return self.child[self.child_start[concept] : self.child_start[concept + 1]]

    def descendants(self, concept: int) -> Ints:
        """The concept and everything below it, ascending."""
        seen, todo = {concept}, [concept]
        while todo:
            new = [c for c in self.children(todo.pop()).tolist() if c not in seen]
            seen.update(new)
            todo.extend(new)
        return np.array(sorted(seen), np.int32)


def _reversed(start: Ints, target: Ints, size: int) -> tuple[Ints, Ints]:
    """The hyponym lists that belong to hypernym lists."""
    source = np.repeat(np.arange(size, dtype=np.int32), np.diff(start))
    order = np.argsort(target, kind="stable")
    begin = np.zeros(size + 1, np.int32)
    np.cumsum(np.bincount(target, minlength=size), out=begin[1:])
    return begin, source[order]


@functools.cache
def load() -> WordNet:
    """The shipped taxonomy (0.3 s, 60 MB); the same object every time."""
    with resources.files("proxid.ontology").joinpath("data", ARTEFACT).open("rb") as file:
        data = dict(np.load(file))
    lemmas, words = _lines(data["lemmas"]), _lines(data["words"])
    child_start, child = _reversed(data["parent_start"], data["parent"], len(data["label"]))
    counts = [(int(a), int(b), int(c), int(d)) for a, b, c, d in data["tag_counts"]]
    irregular = (line.split() for line in _lines(data["exceptions"]))
    return WordNet(
        lemmas=lemmas,
        row={lemma: i for i, lemma in enumerate(lemmas)},
        sense_start=data["sense_start"],
        sense=data["sense"],
        parent_start=data["parent_start"],
        parent=data["parent"],
        child_start=child_start,
        child=child,
        label_row=data["label"],
        tag_counts=dict(zip(words, counts, strict=True)),
        exceptions={fields[0]: fields[1] for fields in irregular},
    )
