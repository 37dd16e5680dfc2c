"""The classifier that services use: identifiers out, then type, category and units (DESIGN 6).

It fails closed: a text that cannot be processed has no masked form, and whatever raises inside is a text that
cannot be processed.
"""

import gzip
from functools import cache
from importlib.resources import files

import numpy as np

from proxid.classify.identifiers import by_name, by_pattern, mask
from proxid.classify.linear import LinearModel
from proxid.classify.text import clean, tokenise
from proxid.classify.types import Classification, RequestType
from proxid.classify.units import STOPWORDS, semantic_units

REJECTED = Classification(type=None, confidence=0.0)


class Pipeline:
    """Linear models, a gazetteer and rules, composed; stateless after loading."""

    version = "proxid-classify/0"

    def __init__(
        self, kinds: LinearModel, topics: LinearModel, names: tuple[frozenset[str], ...], threshold: float
    ) -> None:
        self.kinds, self.topics, self.threshold = kinds, topics, threshold
        self.first, self.last, self.common = names

    def classify(self, text: str) -> Classification:
        """Classify one utterance; never raises on its content."""
        try:
            return self._classify(text)
        except Exception:  # whatever went wrong, the text must not go on
            return REJECTED

    def _classify(self, text: str) -> Classification:
        cleaned = clean(text)
        if cleaned is None or cleaned.foreign:
            return REJECTED
        tokens = tokenise(cleaned.folded)
        spans = by_pattern(cleaned) + by_name(tokens, self.first, self.last, self.common)
        masked = mask(cleaned.shown, spans)
        words = [token.text for token in tokens if token.text[0].isalnum() or token.text[0] == "'"]
        normalised = " ".join(masked.lower().split())
        odds = self.kinds.probabilities(words)
        best = int(odds.argmax())
        kind = RequestType(self.kinds.classes[best]) if odds[best] >= self.threshold else None
        return Classification(
            type=kind,
            confidence=float(odds[best]),
            path=self._path(words) if kind is RequestType.GENERAL else (),
            masked=masked,
            normalised=normalised,
            units=semantic_units(normalised.split()),
            intent=None if kind in (None, RequestType.GENERAL) else str(kind),
            shape=(str(kind),) if kind is RequestType.COMMAND else (),
        )

    def _path(self, words: list[str]) -> tuple[str, ...]:
        return (self.topics.classes[int(self.topics.scores(words).argmax())],)


@cache
def load_default() -> Pipeline:
    """The classifier with the artefacts that ship in the package."""
    folder = files("proxid.classify") / "data"
    with (folder / "models.npz").open("rb") as stream, np.load(stream) as arrays:
        kinds, topics = LinearModel.load(arrays, "type"), LinearModel.load(arrays, "category")
    lines = gzip.decompress((folder / "names.tsv.gz").read_bytes()).decode().split("\n")
    first, last = (frozenset(line.split("\t")) for line in lines)
    common = frozenset(word for word in kinds.rows if word.isalpha()) | STOPWORDS
    return Pipeline(kinds, topics, (first, last, common), threshold=0.5)
