"""What later stages read of an utterance whose identifiers are known."""

from collections.abc import Sequence

from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import Utterance

STANDS_FOR = {"EMAIL": "email", "ADDRESS": "address", "URL": "website", "DATE": "date", "ZIP": "code", "AGE": "age"}
"""What the networks read in the place of an identifier; names are read as they are, other kinds as "number"."""


def readable(u: Utterance, spans: Sequence[Span]) -> list[str]:
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


def unmasked(u: Utterance, spans: Sequence[Span]) -> list[str]:
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
