"""Components that find identifiers: those with a form or keyword of their own, then names (DESIGN 6)."""

from collections.abc import Sequence
from copy import copy

from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan

from proxid.classify.components.stage import IDENTIFIERS, Pair, Stage
from proxid.classify.identifiers import tagger
from proxid.classify.identifiers.redactor import Redactor
from proxid.classify.identifiers.spans import Span, merge
from proxid.classify.readable import readable, unmasked

OPERATOR = "operator"
"""Key of the spans that an operator's own patterns found (a `span_ruler` before the rules)."""


class Rules(Stage):
    """Finds what has a form or keyword of its own; the networks read the rest."""

    def __init__(self) -> None:
        self.redactor = Redactor(tagger.load())

    def run(self, pairs: Sequence[Pair]) -> None:
        """Set `found` and `words`."""
        for doc, state in pairs:
            u = state.utterance
            assert u is not None
            found = self.redactor.rules(u)
            if OPERATOR in doc.spans:
                own = [Span(s.start_char, s.end_char, s.label_, "pattern") for s in doc.spans[OPERATOR]]
                found = merge([*found, *own])
            state.found, state.words = found, readable(u, found)


class Names(Stage):
    """Adds names; in requests of a kind that names nobody only plain ones count."""

    def __init__(self, threshold: float | None) -> None:
        tags = tagger.load()
        if threshold is not None:
            tags = copy(tags)
            tags.threshold = threshold
        self.redactor = Redactor(tags)

    def run(self, pairs: Sequence[Pair]) -> None:
        """Set `spans` and `kept`; a Doc gets them as `ents` and as `spans["identifiers"]`."""
        for doc, state in pairs:
            u, found, guess = state.utterance, state.found, state.guess
            assert u is not None
            assert found is not None
            assert guess is not None
            spans = self.redactor.complete(u, found, guess.nameless)
            state.kept = unmasked(u, spans)
            annotate(doc, spans)
            state.spans = spans


def annotate(doc: Doc, spans: Sequence[Span]) -> None:
    """Write merged spans on a Doc."""
    found: list[DocSpan] = []
    for span in spans:
        whole = doc.char_span(span.start, span.end, label=span.kind, alignment_mode="expand")
        if whole is None:
            raise ValueError("an identifier lies outside of its text")
        found.append(whole)
    doc.spans[IDENTIFIERS] = found
    if found:
        doc.ents = [span for i, span in enumerate(found) if i == 0 or span.start >= found[i - 1].end]


@Language.factory("proxid_rules")
def rules(nlp: Language, name: str) -> Rules:
    """Identifiers with a form or keyword of their own, and an operator's patterns."""
    return Rules()


@Language.factory("proxid_names", default_config={"threshold": None})
def names(nlp: Language, name: str, threshold: float | None) -> Names:
    """Personal names; `threshold`: the score above which a word is one, None for the trained one."""
    return Names(threshold)
