"""Ontologies as trees of named nodes: the IAB taxonomy, or one that an operator loads (DESIGN 6, 002 §4.2.1).

A file has a header `id,parent,name` (commas or tabs; IAB's own `id, parent, path` works too), or is a dump of the Open
Directory: lines of `Top/Arts/Animation`, optionally a tab and a number.
"""

import csv
import gzip
import io
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from proxid.errors import InputError
from proxid.regular import regular_text

MAX_LEVELS = 13
DEEPEST = 64
MAX_BYTES = 256 * 1024 * 1024


class Ontology:
    """Paths of a category tree, and which of them a word names."""

    def __init__(self, paths: Iterable[tuple[str, ...]], name: str) -> None:
        self.paths = frozenset(paths)
        self.name = name
        self._named: dict[str, list[tuple[str, ...]]] = {}
        for path in sorted(self.paths, key=lambda p: (len(p), p)):
            for label in {_label(path[-1]), *(_label(part) for part in path[-1].replace("&", " and ").split(" and "))}:
                if label:
                    self._named.setdefault(label, []).append(path)
        self._longest: dict[str, int] = {}
        for label in self._named:
            words = label.split(" ")
            self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))

    def named(self, label: str) -> list[tuple[str, ...]]:
        """Paths whose last name is `label` (or one side of an "and"), shallow ones first."""
        return self._named.get(_label(label), [])

    def named_in(self, words: Sequence[str], longest: int) -> Iterator[tuple[str, ...]]:
        """`named` of every run of at most `longest` words, long runs first; words are lower-case, without marks."""
        labels = [*map(_singular, words)]
        lengths = [self._longest.get(label, 0) for label in labels]
        for n in range(min(longest, max(lengths, default=0)), 0, -1):
            for i in range(len(labels) - n + 1):
                if lengths[i] >= n:
                    yield from self._named.get(" ".join(labels[i : i + n]), ())

    @classmethod
    def iab(cls) -> "Ontology":
        """The IAB Content Taxonomy 3.1."""
        raw = gzip.decompress((files("proxid.classify") / "data" / "iab.tsv.gz").read_bytes()).decode()
        rows = csv.DictReader(io.StringIO(raw), delimiter="\t", quoting=csv.QUOTE_NONE)
        return cls((tuple(row["path"].split("/")) for row in rows), "iab-3.1")

    @classmethod
    def load(cls, path: Path) -> "Ontology":
        """Read an ontology file; raises InputError when it is neither format, or has a loop or an unknown parent."""
        try:
            if path.stat().st_size > MAX_BYTES:
                raise InputError("an ontology file may have 256 MiB")
            text = regular_text(path, "utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError("the ontology file cannot be read as UTF-8 text") from error
        head = text.split("\n", 1)[0]
        delimiter = "\t" if "\t" in head else ","
        columns = [column.strip().lower() for column in head.split(delimiter)]
        if {"id", "parent", "name"} <= set(columns):
            try:
                return cls(_from_parents(text, delimiter, columns), path.stem)
            except csv.Error as error:
                raise InputError("a line of the ontology cannot be read: a quote that does not end?") from error
        if head.startswith(("Top", "path")):
            return cls(_from_directory(text), path.stem)
        raise InputError("an ontology has the columns id, parent, name, or is an Open Directory dump (Top/...)")


def _label(name: str) -> str:
    words = [_singular(word) for word in name.lower().replace("_", " ").replace("-", " ").split()]
    return " ".join(words)


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _from_parents(text: str, delimiter: str, columns: list[str]) -> list[tuple[str, ...]]:
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True))[1:]
    at = {name: columns.index(name) for name in ("id", "parent", "name")}
    nodes = {}
    for row in rows:
        if not row:
            continue
        if len(row) < len(columns):
            raise InputError("every line of an ontology has as many fields as its header")
        node, parent, name = (row[at[column]].strip() for column in ("id", "parent", "name"))
        if not node or not name:
            raise InputError("every category of an ontology has an id and a name")
        if node in nodes:
            raise InputError("two categories of the ontology have one id")
        nodes[node] = (parent, name)
    return [_path(node, nodes) for node in nodes]


def _path(node: str, nodes: dict[str, tuple[str, str]]) -> tuple[str, ...]:
    names: list[str] = []
    while node:
        if node not in nodes:
            raise InputError("a parent in the ontology is not one of its ids")
        parent, name = nodes[node]
        names.append(name)
        if len(names) > DEEPEST:
            raise InputError("an ontology is a tree of at most 64 levels: there is a loop, or it is deeper")
        node = parent
    return tuple(reversed(names))


def _from_directory(text: str) -> list[tuple[str, ...]]:
    paths = []
    for line in text.splitlines():
        parts = tuple(line.split("\t")[0].strip().split("/"))
        if parts[0] == "Top" and len(parts) > 1:
            if len(parts) > DEEPEST + 1:
                raise InputError("an ontology is a tree of at most 64 levels")
            if not all(parts):
                raise InputError("every category of an ontology has a name")
            paths.append(parts[1:])
    return paths
