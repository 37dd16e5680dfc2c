"""One way to look at any release: texts with counts and, if it names people, the topics it gives them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pyarrow import csv

from proxid.anonymise.release.published import read_published
from proxid.anonymise.release.semantic.paths import ConceptPaths
from proxid.anonymise.release.semantic.topics import FOUR
from proxid.evaluate.load import Asked, load_release
from proxid.evaluate.release import Release
from proxid.logs import LogBatch, read_log
from proxid.logs.batch import Dictionaries
from proxid.ontology.wordnet import load
from proxid.study.entries import Entry, Kind

Counts = dict[str, float]


@dataclass(frozen=True)
class Original:
    """The log that all releases are made of, and the dictionaries that releases are read with."""

    path: Path
    batch: LogBatch
    dictionaries: Dictionaries
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
    """texts: how often each is published. rows: published rows. lab: what the log lab's attacks work on, for logs."""

    texts: Counts
    rows: int
    people: People | None = None
    lab: Release | None = None


def text_counts(batch: LogBatch, dictionaries: Dictionaries) -> Counts:
    """How many records of a log have each text; records without text are left out."""
    codes, count = np.unique(batch.query, return_counts=True)
    found = zip(codes.tolist(), count.tolist(), strict=True)
    return {text: float(n) for code, n in found if (text := dictionaries.query[code])}


def view_of(entry: Entry, original: Original, output: Path, truth: Path | None) -> View:
    """Read a release. Raises InputError when it is none."""
    if entry.kind is Kind.ITEMS:
        return _items(entry, output)
    return _log(entry, original, output, truth) if entry.kind is Kind.LOG else _histograms(original, output)


def _log(entry: Entry, original: Original, output: Path, truth: Path | None) -> View:
    batch, _ = read_log(output, dictionaries=original.dictionaries)
    k, mode = entry.options.get("k", original.k), entry.options.get("mode", "thesis")
    known = truth if truth is not None and truth.is_file() else None
    lab = load_release(original.path, output, Asked(mode=mode, k=k, level=original.level), truth=known)
    people = People(batch.user, batch.category, np.ones(len(batch))) if entry.names_people else None
    return View(text_counts(batch, original.dictionaries), len(batch), people, lab)


def _items(entry: Entry, output: Path) -> View:
    """A sequence counts for every text in it."""
    release = read_published(output)
    texts: Counts = {}
    where = release.columns.index("query") if "query" in release.columns else 0
    for item, count in zip(release.items, release.counts.tolist(), strict=True):
        for text in set(item) if release.columns == ("sequence",) else {item[where]}:
            texts[text] = texts.get(text, 0.0) + count
    return View(texts, len(release))


def _histograms(original: Original, output: Path) -> View:
    """HBDP's table of user, concept, label, count."""
    table = csv.read_csv(output, parse_options=csv.ParseOptions(delimiter="\t", quote_char=False))
    columns = {name: table[name].combine_chunks().dictionary_encode() for name in ("user", "concept", "label")}
    code = {name: column.indices.to_numpy() for name, column in columns.items()}
    weight = table["count"].to_numpy().astype(np.float64)
    labels = columns["label"].dictionary.to_pylist()
    texts = dict(zip(labels, np.bincount(code["label"], weight).tolist(), strict=True))
    wordnet, names = load(), original.dictionaries
    path = ConceptPaths(wordnet, FOUR)
    nodes = [names.tree.add(path(wordnet.concept(name))) for name in columns["concept"].dictionary.to_pylist()]
    users = [names.user.find(name) for name in columns["user"].dictionary.cast("string").to_pylist()]
    people = People(np.array(users, np.int32)[code["user"]], np.array(nodes, np.int32)[code["concept"]], weight)
    return View(texts, len(weight), people)
