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
                found = merge([*found, *(whole(span) for span in doc.spans[OPERATOR])])
            state.found, state.words = found, readable(u, found)


def whole(match: DocSpan) -> Span:
    """What an operator's pattern found, with the letters and figures that are written together with it: "17b"."""
    doc, first, last = match.doc, match.start, match.end - 1
    while first and not doc[first - 1].whitespace_ and doc[first - 1].text.isalnum() and doc[first].text.isalnum():
        first -= 1
    while (
        not doc[last].whitespace_ and last + 1 < len(doc) and doc[last].text.isalnum() and doc[last + 1].text.isalnum()
    ):
        last += 1
    found = doc[first : last + 1]
    return Span(found.start_char, found.end_char, match.label_, "pattern")


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
