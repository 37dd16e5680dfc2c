"""The classifier that services use: a thin adapter over the spaCy pipeline `en_proxid` (DESIGN 6).

It fails closed: a text that cannot be processed has no masked form, and whatever raises inside is a text that cannot be
processed. Nothing said stays: each call runs in a memory zone of spaCy's, at the end of which every word that was not
known before is gone, and no Doc leaves the call.
"""

import hashlib
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from proxid.classify.types import Classification
from proxid.errors import ConfigError

if TYPE_CHECKING:
    from spacy.language import Language

    from proxid.classify.categories import Categories
    from proxid.classify.identifiers.redactor import Redactor
    from proxid.classify.identifiers.utterance import Utterance
    from proxid.classify.intents import Intents
    from proxid.classify.state import State

MODEL: Final = "en_proxid"
NEEDED: Final = "needs the classifier: make classify"
REJECTED: Final = Classification(type=None, confidence=0.0)
BATCH: Final = 256
"""Texts that `pipe` hands from component to component at a time."""
_READING: Final = ("proxid_topic", "proxid_slots")
"""The components that say nothing of identifiers, type and intent."""
_UNDERSTOOD: Final = (*_READING, "proxid_english", "proxid_mask")


class Pipeline:
    """`en_proxid` for services; calls of several threads take turns, since memory zones do not nest."""

    def __init__(self, nlp: "Language", version: str) -> None:
        self.nlp, self.version = nlp, version
        self._components = tuple(nlp.pipeline)
        self._turn = threading.Lock()
        # No component's failure may pass for its having found nothing.
        nlp.set_error_handler(_raised)

    def classify(self, text: str) -> Classification:
        """Classify one utterance; never raises on its content."""
        return next(self.pipe([text]))

    def pipe(self, texts: Iterable[str]) -> Iterator[Classification]:
        """Classify many utterances, in order; one that cannot be processed is withheld and costs no other one anything.

        Answers are the same as one at a time. The texts of BATCH answers are read before the first is given.
        """
        batch: list[str] = []
        for text in texts:
            batch.append(text)
            if len(batch) == BATCH:
                yield from self._results(batch)
                batch = []
        if batch:
            yield from self._results(batch)

    def masks(self, texts: Iterable[str]) -> list[str | None]:
        """What `classify` masks of each text, without topics and slots; None for one to withhold."""
        return [None if state is None else state.masked for state in self._states([*texts], _READING)]

    def file(self, text: str) -> tuple[str, ...]:
        """Category path of a search query, which is general by definition; () of a text that cannot be read."""
        state = self.state(text)
        try:
            return () if state is None else self.categories.path(state.words, state.kept)
        except Exception:  # as in classify
            return ()

    def state(self, text: str) -> "State | None":
        """What the components know of a text up to the gate; None when it is withheld."""
        return self._states([text], _READING)[0]

    def read(self, text: str) -> "State | None":
        """What the components know of a text in English up to the gate; None when it is withheld."""
        return self.state(text)

    def understood(self, u: "Utterance") -> "State":
        """The same of any utterance, whatever its language, without the gates; raises what a component raises."""
        from proxid.classify.state import state_of

        with self._turn, self.nlp.memory_zone():
            return state_of(self.nlp(u.clean.shown, disable=_UNDERSTOOD))

    @property
    def intents(self) -> "Intents":
        """The stage of types and intents."""
        return cast("Intents", self._component("proxid_intent").intents)

    @property
    def threshold(self) -> float:
        """The probability under which a type is rejected."""
        return float(self._component("proxid_intent").threshold)

    @property
    def redactor(self) -> "Redactor":
        """The stage of identifiers, with its policy on public figures."""
        return cast("Redactor", self._component("proxid_mask").redactor)

    @property
    def categories(self) -> "Categories":
        """The stage of topics."""
        return cast("Categories", self._component("proxid_topic").filing)

    def _component(self, name: str) -> Any:
        return self.nlp.get_pipe(name)

    def _results(self, texts: list[str]) -> list[Classification]:
        return [REJECTED if s is None or s.result is None else s.result for s in self._states(texts, ())]

    def _states(self, texts: list[str], disable: tuple[str, ...]) -> "list[State | None]":
        """The state of each text, None for those that are withheld."""
        with self._turn, self.nlp.memory_zone():
            try:
                return self._read(texts, disable)
            except Exception:  # a component that is not the product's: the others' texts must not suffer
                return [self._alone(text, disable) for text in texts]

    def _alone(self, text: str, disable: tuple[str, ...]) -> "State | None":
        try:
            return self._read([text], disable)[0]
        except Exception:  # whatever went wrong, the text must not go on
            return None

    def _read(self, texts: list[str], disable: tuple[str, ...]) -> "list[State | None]":
        from proxid.classify.state import state_of

        if len(texts) == 1:
            # As `nlp(text)` does, without what that asks of each component each time.
            doc = self.nlp.tokenizer(texts[0])
            for name, component in self._components:
                if name not in disable:
                    doc = component(doc)
            states = [state_of(doc)]
        else:
            states = [*map(state_of, self.nlp.pipe(texts, disable=disable, batch_size=BATCH))]
        if len(states) != len(texts):
            raise ValueError("a component dropped a text")
        return [None if state.withheld else state for state in states]


def _raised(_: str, __: Any, ___: Any, error: Exception) -> NoReturn:
    raise error


@cache
def load_default(
    public_figures: str = "mask", method: str = "network", ontology_file: Path | None = None,
    patterns: Path | None = None,
) -> Pipeline:  # fmt: skip
    """The installed classifier, loaded once.

    `public_figures`: `mask` (default: a wrong keep discloses a person) or `keep`. `method`: `network`, or `thesis` for
    002's Algorithm 1. `ontology_file`: an operator's own ontology instead of the IAB taxonomy. `patterns`: identifiers
    of the operator's own (docs/models.md), patterns of spaCy's `span_ruler`, one JSON object a line.
    Raises ConfigError for another policy or method, for unusable patterns and where the classifier's packages are not
    installed; InputError for an unusable ontology.
    """
    if find_spec("spacy") is None or find_spec(MODEL) is None:
        raise ConfigError(NEEDED)
    from proxid.classify.components.patterns import add_patterns
    from proxid.classify.load import load_pipeline

    topic = {"method": method, "ontology": None if ontology_file is None else str(ontology_file)}
    nlp = load_pipeline({"proxid_mask": {"public_figures": public_figures}, "proxid_topic": topic})
    read = [path for path in (ontology_file, patterns) if path is not None]
    if patterns is not None:
        add_patterns(nlp, patterns)
    return Pipeline(nlp, _version(f"{public_figures} {method} {patterns is not None}", read))


def _version(settings: str, read: list[Path]) -> str:
    """The pipeline's name: its settings, what the operator gave it, its weights and tables."""
    digest = hashlib.sha256(settings.encode())
    for path in read:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    for folder in (files(MODEL), files("proxid.classify") / "data"):
        for path in sorted(Path(str(folder)).rglob("*")):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"proxid-classify/4-{digest.hexdigest()[:12]}"


def mask(pipeline: Pipeline, text: str) -> str | None:
    """What `pipeline.classify(text).masked` is, without topic and slots; None for a text to withhold."""
    return pipeline.masks([text])[0]
