"""Components with a trained network: the type and intent of a request, and the topic of a general query (DESIGN 6)."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from proxid.classify import ontology
from proxid.classify.categories import Categories
from proxid.classify.components.stage import Pair, Stage
from proxid.classify.feature_sum import Network
from proxid.classify.intents import ORDER, Intents
from proxid.classify.named import NamedCategories
from proxid.classify.thesis import ThesisCategories
from proxid.classify.types import RequestType
from proxid.classify.weights import Doubles, read_arrays
from proxid.errors import ConfigError

Layer = Model[list[Doc], Floats2d]
WEIGHTS = "weights.npz"
DEFAULT_MODEL = {"@architectures": "proxid.FeatureSum.v1"}


class Intent(Stage):
    """Guesses type and intent; `doc.cats` gets the calibrated probability of each type."""

    def __init__(self, model: Layer, threshold: float | None) -> None:
        self.model, self._threshold = model, threshold
        self.intents: Intents

    @property
    def threshold(self) -> float:
        """The probability under which a type is rejected."""
        return self.intents.threshold if self._threshold is None else self._threshold

    def run(self, pairs: Sequence[Pair]) -> None:
        """Set `guess`."""
        scores = _scores(self.model, pairs)
        guesses = self.intents.guesses(scores, [state.seen for _, state in pairs])
        for (doc, state), guess in zip(pairs, guesses, strict=True):
            state.guess = guess
            if guess.confidence >= self.threshold:
                state.type = guess.type
            doc.cats = {str(kind): odds for kind, odds in zip(ORDER, guess.odds, strict=True)}

    def from_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> "Intent":
        """Read the weights."""
        self.intents = Intents(read_arrays(path / WEIGHTS))
        self.model.attrs["network"] = self.intents.network
        return self


class Topic(Stage):
    """Files accepted general queries under the ontology."""

    def __init__(self, model: Layer, method: str, ontology_file: str | None) -> None:
        if method not in ("network", "thesis"):
            raise ConfigError("the method of classification is network or thesis")
        self.model = model
        self._tree = ontology.Ontology.load(Path(ontology_file)) if ontology_file else ontology.Ontology.iab()
        self._method = "named" if ontology_file and method == "network" else method
        self.filing: Categories | NamedCategories | ThesisCategories
        if self._method != "network":
            self.filing = (ThesisCategories if method == "thesis" else NamedCategories)(self._tree)

    def run(self, pairs: Sequence[Pair]) -> None:
        """Set `path`: from the network with the IAB taxonomy, else by names in the ontology, or by Algorithm 1."""
        general = [(doc, state) for doc, state in pairs if state.type is RequestType.GENERAL]
        if not general:
            return
        if isinstance(self.filing, Categories):
            scores = _scores(self.model, general)
            for (_, state), row in zip(general, scores, strict=True):
                state.path = self.filing.filed(row, state.kept)
        else:
            for _, state in general:
                state.path = self.filing.path(state.words, state.kept)

    def from_disk(self, path: Path, *, exclude: Iterable[str] = ()) -> "Topic":
        """Read the weights, if the method needs them."""
        if self._method == "network":
            network = Network(read_arrays(path / WEIGHTS), ["top", "node"])
            self.filing = Categories(network, self._tree)
            self.model.attrs["network"] = network
        return self


def _scores(model: Layer, pairs: Sequence[Pair]) -> Doubles:
    return cast(Doubles, model.predict([doc for doc, _ in pairs]))


@Language.factory("proxid_intent", default_config={"model": DEFAULT_MODEL, "threshold": None})
def intent(nlp: Language, name: str, model: Layer, threshold: float | None) -> Intent:
    """Type and intent; `threshold`: the probability under which a type is rejected, None for the trained one."""
    return Intent(model, threshold)


@Language.factory("proxid_topic", default_config={"model": DEFAULT_MODEL, "method": "network", "ontology": None})
def topic(nlp: Language, name: str, model: Layer, method: str, ontology: str | None) -> Topic:
    """Topic of a general query; `method`: `network`, or `thesis` for 002's Algorithm 1; `ontology`: another file."""
    return Topic(model, method, ontology)
