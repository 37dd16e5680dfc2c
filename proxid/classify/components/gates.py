"""The two gates: a text in another language, and one in which something identifying seems left, go no further."""

from collections.abc import Sequence

from spacy.language import Language

from proxid.classify import language
from proxid.classify.components.stage import Pair, Stage, withhold
from proxid.classify.identifiers import tagger
from proxid.classify.identifiers.redactor import Redactor
from proxid.classify.lexicon import lexicon
from proxid.errors import ConfigError


class English(Stage):
    """Withholds what is in another language."""

    def __init__(self) -> None:
        self.judge = language.load()

    def run(self, pairs: Sequence[Pair]) -> None:
        """Judge by the words, and by those outside of identifiers."""
        for _, state in pairs:
            assert state.utterance is not None
            assert state.spans is not None
            state.english = self.judge.english(state.utterance.words, state.kept)


class Mask(Stage):
    """Masks identifiers; what no component vouches for, or what looks identifying still, is withheld."""

    def __init__(self, keep: frozenset[str]) -> None:
        self.redactor = Redactor(tagger.load(), keep)

    def run(self, pairs: Sequence[Pair]) -> None:
        """Set `masked`, or withhold: also where a component before this one was left out of the pipeline."""
        for doc, state in pairs:
            u, spans = state.utterance, state.spans
            if u is not None and spans is not None and state.found is not None and state.english:
                state.masked = self.redactor.masked(u, spans)
            if state.masked is None:
                withhold(doc, state)


@Language.factory("proxid_english")
def english(nlp: Language, name: str) -> English:
    """The gate that lets English pass."""
    return English()


@Language.factory("proxid_mask", default_config={"public_figures": "mask"})
def mask(nlp: Language, name: str, public_figures: str) -> Mask:
    """The fail-closed gate; `public_figures`: `mask` (a wrong keep discloses a person) or `keep`."""
    if public_figures not in ("mask", "keep"):
        raise ConfigError("public_figures is mask or keep")
    return Mask(lexicon("public_figures") if public_figures == "keep" else frozenset())
