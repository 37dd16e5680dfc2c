"""The classifier that services use: identifiers out, then type, category, units and slots (DESIGN 6).

It fails closed: a text that cannot be processed has no masked form, and whatever raises inside is a text that
cannot be processed. In order: (1) the text is cleaned, or withheld; (2) identifiers are found; (3) type and intent
are guessed; (4) another language is rejected; (5) identifiers are masked, and the gate looks for what is left; (6) the
reject option, path, shape, slots.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from proxid.classify import language, ontology, shapes
from proxid.classify.categories import Categories
from proxid.classify.identifiers import tables, tagger
from proxid.classify.identifiers.redactor import Redactor
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.intents import Guess, Intents
from proxid.classify.lexicon import lexicon
from proxid.classify.named import NamedCategories
from proxid.classify.network import Network
from proxid.classify.semantic_units import semantic_units
from proxid.classify.slots import slots
from proxid.classify.text import clean
from proxid.classify.thesis import ThesisCategories
from proxid.classify.types import Classification, RequestType, Slot
from proxid.errors import ConfigError


class Filing(Protocol):
    """The category stage."""

    def path(self, words: Sequence[str], masked: Sequence[str]) -> tuple[str, ...]:
        """Category path of a query from the words the networks read and the words outside its identifiers."""
        ...


REJECTED = Classification(type=None, confidence=0.0)
ARTEFACTS = (
    "requests.npz", "subjects.npz", "tagger.json", "gazetteer.tsv.gz", "places.tsv.gz", "languages.npz",
    "stopwords.tsv", "fillers.tsv",
)  # fmt: skip


class Reading(NamedTuple):
    """What stages 1-4 made of a text: identifiers, the words outside them, those that the networks read, the guess."""

    utterance: Utterance
    spans: list[Span]
    kept: list[str]
    words: list[str]
    guess: Guess


class Pipeline:
    """The stages, composed; stateless but for memories of words."""

    def __init__(
        self, redactor: Redactor, judge: language.Language, intents: Intents, categories: "Filing", version: str
    ) -> None:
        self.redactor, self.judge, self.intents, self.categories = redactor, judge, intents, categories
        self.version = version

    def classify(self, text: str) -> Classification:
        """Classify one utterance; never raises on its content."""
        try:
            return self._classify(text)
        except Exception:  # whatever went wrong, the text must not go on
            return REJECTED

    def file(self, text: str) -> tuple[str, ...]:
        """Category path of a search query, which is general by definition; () of a text that cannot be read."""
        try:
            reading = self.read(text)
        except Exception:  # as in classify
            return ()
        return () if reading is None else self.categories.path(reading.words, reading.kept)

    def read(self, text: str) -> Reading | None:
        """Stages 1-4; None when the text must be withheld."""
        cleaned = clean(text)
        if cleaned is None or cleaned.foreign:
            return None
        reading = self.understood(Utterance.of(cleaned))
        return reading if self.judge.english(reading.utterance.words, reading.kept) else None

    def understood(self, u: Utterance) -> Reading:
        """Identifiers and the guess of an utterance.

        Rules first; the networks read what they leave; in requests of a kind that names nobody only plain names count.
        """
        found = self.redactor.rules(u)
        words = readable(u, found)
        guess = self.intents.guess(words)
        spans = self.redactor.complete(u, found, guess.nameless)
        return Reading(u, spans, unmasked(u, spans), words, guess)

    def _classify(self, text: str) -> Classification:
        reading = self.read(text)
        if reading is None:
            return REJECTED
        u, spans, kept, words, guess = reading
        masked = self.redactor.masked(u, spans)
        if masked is None:
            return REJECTED
        normalised = " ".join(masked.lower().split())
        filled = slots(u.clean.folded, kept, spans)
        kind = guess.type if guess.confidence >= self.intents.threshold else None
        return Classification(
            type=kind,
            confidence=guess.confidence,
            path=self.categories.path(words, kept) if kind is RequestType.GENERAL else (),
            masked=masked,
            normalised=normalised,
            units=semantic_units(normalised.split()),
            slots=filled,
            intent=None if kind in (None, RequestType.GENERAL) else _intent(guess),
            shape=_shape(guess, filled) if kind is RequestType.COMMAND else (),
        )


def _intent(guess: Guess) -> str:
    place = shapes.intents()[guess.intent]
    return f"{place.domain}_{place.leaf}"


def _shape(guess: Guess, filled: tuple[Slot, ...]) -> tuple[str, ...]:
    return shapes.shape(guess.intent, filled)


STANDS_FOR = {"EMAIL": "email", "ADDRESS": "address", "URL": "website", "DATE": "date", "ZIP": "code", "AGE": "age"}
"""What the networks read in the place of an identifier; names are read as they are, other kinds as "number"."""


def readable(u: Utterance, spans: list[Span]) -> list[str]:
    """The words that the networks read: identifiers other than names become one word each."""
    other = [span for span in spans if span.kind != "NAME"]
    if not other:
        return [word for word in u.words if word[0].isalnum() or word[0] == "'"]
    out: list[str] = []
    i = 0
    for token in u.tokens:
        while i < len(other) and other[i].end <= token.start:
            i += 1
        if i < len(other) and other[i].start <= token.start:
            if token.start == other[i].start:
                out.append(STANDS_FOR.get(other[i].kind, "number"))
        elif token.text[0].isalnum() or token.text[0] == "'":
            out.append(token.text)
    return out


def unmasked(u: Utterance, spans: list[Span]) -> list[str]:
    """The words outside of every identifier."""
    if not spans:
        return [word for word in u.words if word[0].isalnum()]
    kept, i = [], 0
    for token in u.tokens:
        while i < len(spans) and spans[i].end <= token.start:
            i += 1
        if (i == len(spans) or token.end <= spans[i].start) and token.text[0].isalnum():
            kept.append(token.text)
    return kept


def _version(method: str, path: Path | None) -> str:
    digest = hashlib.sha256(method.encode())
    if path is not None:
        digest.update(path.read_bytes())
    digest.update(tables.content())
    for name in ARTEFACTS:
        digest.update((files("proxid.classify") / "data" / name).read_bytes())
    return f"proxid-classify/1-{digest.hexdigest()[:12]}"


@cache
def load_default(public_figures: str = "mask", method: str = "network", ontology_file: Path | None = None) -> Pipeline:
    """The shipped classifier, loaded once.

    `public_figures`: `mask` (default: a wrong keep discloses a person) or `keep`. `method`: `network`, or `thesis` for
    002's Algorithm 1. `ontology_file`: an operator's own ontology instead of the IAB taxonomy.
    Raises ConfigError for another policy or method, InputError for an unusable ontology.
    """
    if public_figures not in ("mask", "keep") or method not in ("network", "thesis"):
        raise ConfigError("public_figures is mask or keep, and the method of classification network or thesis")
    folder = files("proxid.classify") / "data"
    with (folder / "requests.npz").open("rb") as stream, np.load(stream) as arrays:
        intents = Intents(arrays)
    figures = lexicon("public_figures") if public_figures == "keep" else frozenset[str]()
    redactor = Redactor(tagger.load(), figures)
    return Pipeline(redactor, language.load(), intents, _filing(method, ontology_file), _version(method, ontology_file))


def _filing(method: str, path: Path | None) -> Filing:
    """The category stage: the network with the IAB taxonomy, names of another ontology, or Algorithm 1 on either."""
    tree = ontology.Ontology.iab() if path is None else ontology.Ontology.load(path)
    if method == "thesis":
        return ThesisCategories(tree)
    if path is not None:
        return NamedCategories(tree)
    with (files("proxid.classify") / "data" / "subjects.npz").open("rb") as stream, np.load(stream) as arrays:
        return Categories(Network(arrays, "subjects", ["top", "node"]), tree)


def mask(pipeline: Pipeline, text: str) -> str | None:
    """What `pipeline.classify(text).masked` is, without type, category and slots; None for a text to withhold."""
    try:
        reading = pipeline.read(text)
        return None if reading is None else pipeline.redactor.masked(reading.utterance, reading.spans)
    except Exception:  # as in classify: the text must not go on
        return None
