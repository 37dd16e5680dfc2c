"""Typed stand-ins for identifiers (DESIGN 5.5): "text Person-1 at Number-1" goes out, the answer gets the words back.

Which words are identifiers is the classifier's saying, the same that masks what is logged. The table of a text lives as
long as its call, and no stand-in says more of a word than its kind.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from proxid.classify.identifiers.spans import Span

_NAMES: Final = {
    "NAME": "Person", "PHONE": "Number", "EMAIL": "Address", "HANDLE": "Account", "URL": "Page", "ADDRESS": "Place",
    "ZIP": "Place", "DATE": "Day", "AGE": "Age",
}  # fmt: skip
OTHER: Final = "Code"
"""For every other kind of identifier."""
_STAND_IN: Final = re.compile(rf"\b(?:{'|'.join(sorted({*_NAMES.values(), OTHER}))})-\d+\b", re.IGNORECASE)


class Replaced(NamedTuple):
    """A text with stand-ins, and what each stands for."""

    text: str
    words: dict[str, str]


def replace(text: str, spans: Sequence[Span]) -> Replaced:
    """Put a stand-in in the place of every span; equal words of a kind get one stand-in."""
    numbers: dict[tuple[str, str], str] = {}
    counts: dict[str, int] = {}
    parts, words, at = [], {}, 0
    for span in sorted(spans, key=lambda span: span.start):
        name, said = _NAMES.get(span.kind, OTHER), text[span.start : span.end]
        key = (name, said.casefold())
        if key not in numbers:
            counts[name] = counts.get(name, 0) + 1
            numbers[key] = f"{name}-{counts[name]}"
            words[numbers[key].casefold()] = said
        parts += [text[at : span.start], numbers[key]]
        at = span.end
    return Replaced("".join([*parts, text[at:]]), words)


def put_back(answer: str, words: dict[str, str]) -> str:
    """An answer with what its stand-ins stand for; one that was never given out stays."""
    return _STAND_IN.sub(lambda found: words.get(found[0].casefold(), found[0]), answer)
