"""Components with a trained network: the type and intent of a request, and the topic of a general query (DESIGN 6)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from proxid.classify import ontology
from proxid.classify.categories import Categories, softmax
from proxid.classify.components.stage import Pair
from proxid.classify.components.trained import Arrays, Layer, Trained, heads_of, likeliest
from proxid.classify.feature_sum import Network
from proxid.classify.intents import ORDER, THRESHOLD, Intents, weight, with_topic
from proxid.classify.named import NamedCategories
from proxid.classify.state import State, state_of
from proxid.classify.thesis import ThesisCategories
from proxid.classify.types import RequestType
from proxid.errors import ConfigError

AS_IT_IS = 1.0
"""Temperature of a network that nobody has calibrated."""
DEFAULT_MODEL = {"@architectures": "proxid.FeatureSum.v1"}
LEAST = 3
"""Texts that a feature is in before training gives it a row."""


class Intent(Trained):
    """Guesses type and intent; `doc.cats` gets the calibrated probability of each type."""

    HEADS = ("intent",)

    def __init__(self, name: str, model: Layer, least: int, threshold: float | None) -> None:
        super().__init__(name, model, least)
        self._threshold = threshold
        self.intents: Intents

    @property
    def threshold(self) -> float:
        """The probability under which a type is rejected."""
        return THRESHOLD if self._threshold is None else self._threshold

    def initialize(
        self, get_examples: Callable[[], Iterable[Example]], *, nlp: Any = None, types: Mapping[str, str] | None = None
    ) -> None:
        """Also take the type of each intent; one without a type counts for none.

        Args:
            types: of intents, and of groups of texts that have a type and no intent (intents.WRITTEN).
        """
        super().initialize(get_examples, nlp=nlp)
        kinds = [(types or {}).get(name, "") for name in self._heads["intent"]]
        table = np.array([[kind == str(one) for one in ORDER] for kind in kinds], np.int8)
        self._more = {"types": table, "calibration": np.array([AS_IT_IS], np.float32)}

    def run(self, pairs: Sequence[Pair]) -> None:
        """Set `guess`."""
        scores = self.scores(pairs)
        guesses = self.intents.guesses(
            scores, [state.seen for _, state in pairs], [weight(state.words) for _, state in pairs]
        )
        for (doc, state), guess in zip(pairs, guesses, strict=True):
            state.guess, state.least = guess, self.threshold
            if guess.confidence >= self.threshold:
                state.type = guess.type
            doc.cats = {str(kind): odds for kind, odds in zip(ORDER, guess.odds, strict=True)}

    def score(self, examples: Iterable[Example], **_: Any) -> dict[str, float]:
        """Share of the examples with a type of whom it is the likeliest one."""
        pairs = [(example.predicted.cats, heads_of(example.reference.cats, "type")) for example in examples]
        told = [likeliest(said) == likeliest(true) for said, true in pairs if said and true]
        return {"type_accuracy": sum(told) / max(len(told), 1)}

    def read(self, arrays: Arrays) -> None:
        """Answer from packed weights."""
        self.intents = Intents(arrays)
        self.model.attrs["network"] = self.intents.network


class Topic(Trained):
    """Files accepted general queries under the ontology."""

    HEADS = ("top", "node")

    def __init__(self, name: str, model: Layer, least: int, method: str, ontology_file: str | None) -> None:
        if method not in ("network", "thesis"):
            raise ConfigError("the method of classification is network or thesis")
        super().__init__(name, model, least)
        self._tree = ontology.Ontology.load(Path(ontology_file)) if ontology_file else ontology.Ontology.iab()
        self._method = "named" if ontology_file and method == "network" else method
        self.filing: Categories | NamedCategories | ThesisCategories
        if self._method != "network":
            self.filing = (ThesisCategories if method == "thesis" else NamedCategories)(self._tree)

    def run(self, pairs: Sequence[Pair]) -> None:
        """Set `path`: from the network with the IAB taxonomy, else by names in the ontology, or by Algorithm 1.

        The network has a say in what is general: what may be, and has a sure topic, is.
        """
        network = self._method == "network"
        asked = [pair for pair in pairs if pair[1].type is RequestType.GENERAL or (network and _may_be(pair[1]))]
        if asked and network:
            scores = self.scores(asked)
            assert isinstance(self.filing, Categories)
            for (doc, state), row in zip(asked, scores, strict=True):
                if state.type is not RequestType.GENERAL and self.filing.sure(row):
                    _taken_for_general(doc, state)
                if state.type is RequestType.GENERAL:
                    state.path = self.filing.filed(row, state.kept)
        elif asked:
            assert not isinstance(self.filing, Categories)
            for _, state in asked:
                state.path = self.filing.path(state.words, state.kept)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Any = None,
        vectors: dict[str, Any] | None = None,
    ) -> None:
        """Also take vectors of words that the shipped ones lack; packing makes rows of them."""
        self.model.get_ref("means").attrs["more"] = vectors or {}
        super().initialize(get_examples, nlp=nlp)

    def score(self, examples: Iterable[Example], **_: Any) -> dict[str, float]:
        """Share of the examples with a tier-1 of whom it is the network's, whatever their type."""
        pairs = [(one.predicted, heads_of(one.reference.cats, "top")) for one in examples]
        told = [(doc, likeliest(true)) for doc, true in pairs if true and state_of(doc).words]
        scores = [*self.scores([(doc, state_of(doc)) for doc, _ in told])] if told else []
        assert isinstance(self.filing, Categories)
        tops = [self.filing.top(softmax(row[: len(self.filing.tops)])) for row in scores]
        right = sum(top == true for top, (_, true) in zip(tops, told, strict=True))
        return {"topic_accuracy": right / max(len(told), 1)}

    def read(self, arrays: Arrays) -> None:
        """Answer from packed weights."""
        network = Network(arrays, self.HEADS)
        self.filing = Categories(network, self._tree)
        self.model.attrs["network"] = network

    def to_bytes(self, **_: Any) -> bytes:
        """The weights, if the method has any."""
        return super().to_bytes() if self._method == "network" else b""

    def from_bytes(self, data: bytes, **_: Any) -> Trained:
        """Read the weights, if the method needs them."""
        return super().from_bytes(data) if self._method == "network" else self


def _may_be(state: State) -> bool:
    """Whether a sure topic would make a text a general one."""
    told = None if state.guess is None else with_topic(state.guess)
    return told is not None and told.type is RequestType.GENERAL and told.confidence >= state.least


def _taken_for_general(doc: Doc, state: State) -> None:
    assert state.guess is not None
    state.guess = with_topic(state.guess)
    state.type = state.guess.type
    doc.cats = {str(kind): odds for kind, odds in zip(ORDER, state.guess.odds, strict=True)}


@Language.factory("proxid_intent", default_config={"model": DEFAULT_MODEL, "least": LEAST, "threshold": None})
def intent(nlp: Language, name: str, model: Layer, least: int, threshold: float | None) -> Intent:
    """Type and intent; `threshold`: the probability under which a type is rejected, None for the usual one.

    `least`: texts that a feature is in before training gives it a row.
    """
    return Intent(name, model, least, threshold)


@Language.factory(
    "proxid_topic", default_config={"model": DEFAULT_MODEL, "least": LEAST, "method": "network", "ontology": None}
)
def topic(nlp: Language, name: str, model: Layer, least: int, method: str, ontology: str | None) -> Topic:
    """Topic of a general query; `method`: `network`, or `thesis` for 002's Algorithm 1; `ontology`: another file."""
    return Topic(name, model, least, method, ontology)
