"""One way to look at any release: what it counts, by kind of item, and the topics it gives to people."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pyarrow import csv

from proxid.lab.load import Asked, load_release
from proxid.lab.logs import LogBatch, read_log
from proxid.lab.logs.batch import Dictionaries
from proxid.lab.release.forms.split import contents_path
from proxid.lab.release.published import read_published
from proxid.lab.release.semantic.paths import ConceptPaths
from proxid.lab.release.semantic.topics import FOUR
from proxid.lab.released_log import Release
from proxid.lab.studies.counted import Counts, counted_log
from proxid.lab.studies.entries import KINDS, Entry, Kind
from proxid.ontology.wordnet import load


@dataclass(frozen=True)
class Original:
    """The log that all releases are made of: its histograms by kind, and the dictionaries that releases are read with.

    tests: later sessions of the same people, which no release has seen.
    """

    path: Path
    batch: LogBatch
    dictionaries: Dictionaries
    kinds: dict[str, Counts]
    tests: Sequence[Sequence[str]]
    level: int
    k: int


@dataclass(frozen=True)
class People:
    """Published records that name a person: user and category (codes of the original's dictionaries), how many."""

    user: npt.NDArray[np.int32]
    category: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """kinds: published items with counts, by kind; empty where a release of that kind holds nothing.

    rows: published rows. lab: what the log lab's attacks work on, for releases that are logs.
    """

    kinds: dict[str, Counts]
    rows: int
    people: People | None = None
    lab: Release | None = None

    @property
    def texts(self) -> frozenset[str]:
        """Every query text that is published, alone or in an item."""
        single = {item[0] for kind in ("queries", "clicks") for item in self.kinds.get(kind, {})}
        several = {text for kind in ("pairs", "sequence") for item in self.kinds.get(kind, {}) for text in item}
        return frozenset(single | several)


def counts_of(path: Path) -> dict[str, Counts]:
    """How many users a log has for each item of every kind; kinds that it has none of are left out."""
    with counted_log(path) as log:
        found = {kind: log.full(kind).as_dict() for kind in KINDS}
    return {kind: counts for kind, counts in found.items() if counts}


def view_of(entry: Entry, original: Original, outputs: dict[str, Path], truth: Path | None) -> View:
    """Read a release, a file a kind ("" for what is no kind of items). Raises InputError when it is none."""
    if entry.kind is Kind.ITEMS:
        return _items(outputs)
    output = outputs[""]
    return _log(entry, original, output, truth) if entry.kind is Kind.LOG else _histograms(original, output)


def _log(entry: Entry, original: Original, output: Path, truth: Path | None) -> View:
    batch, _ = read_log(output, dictionaries=original.dictionaries)
    asked = Asked(k=entry.options.get("k", original.k), level=entry.options.get("level", original.level))
    known = truth if truth is not None and truth.is_file() else None
    lab = load_release(original.path, output, asked, truth=known)
    people = People(batch.user, batch.category, np.ones(len(batch))) if entry.names_people else None
    kinds = counts_of(output)
    if entry.options.get("form") == "split":
        kinds["queries"] = contents_texts(output)
    if np.isnan(batch.time).all():
        kinds.pop("pairs", None)  # without times no query comes after another
    return View(kinds, len(batch), people, lab)


def contents_texts(output: Path) -> Counts:
    """Texts and units of the contents of a release in form `split`, and how many records say each."""
    found: Counts = {}
    with contents_path(output).open(encoding="utf-8") as file:
        for line in file:
            for _, text, records in json.loads(line)["rows"]:
                if text:
                    found[text,] = found.get((text,), 0.0) + records
    return found


def _items(outputs: dict[str, Path]) -> View:
    kinds: dict[str, Counts] = {}
    rows = 0
    for kind, output in outputs.items():
        release = read_published(output)
        kinds[kind] = {item: float(count) for item, count in release.as_dict().items()}
        rows += len(release)
    return View(kinds, rows)


def _histograms(original: Original, output: Path) -> View:
    """HBDP's table of user, concept, label, count; a label is a query, its words are keywords."""
    table = csv.read_csv(output, parse_options=csv.ParseOptions(delimiter="\t", quote_char=False))
    columns = {name: table[name].combine_chunks().dictionary_encode() for name in ("user", "concept", "label")}
    code = {name: column.indices.to_numpy() for name, column in columns.items()}
    weight = table["count"].to_numpy().astype(np.float64)
    labels = columns["label"].dictionary.to_pylist()
    summed = np.bincount(code["label"], weight).tolist()
    queries: Counts = {(label,): count for label, count in zip(labels, summed, strict=True)}
    keywords: Counts = {}
    for item, count in queries.items():
        for word in item[0].split():
            keywords[word,] = keywords.get((word,), 0.0) + count
    wordnet, names = load(), original.dictionaries
    path = ConceptPaths(wordnet, FOUR)
    nodes = [names.tree.add(path(wordnet.concept(name))) for name in columns["concept"].dictionary.to_pylist()]
    users = [names.user.find(name) for name in columns["user"].dictionary.cast("string").to_pylist()]
    people = People(np.array(users, np.int32)[code["user"]], np.array(nodes, np.int32)[code["concept"]], weight)
    return View({"queries": queries, "keywords": keywords}, len(weight), people)
