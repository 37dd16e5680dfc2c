"""Number plates by their form: German, British, French, Dutch and American ones, hyphened or beside a word about cars."""

import re
from collections.abc import Iterator

from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_HYPHENED = re.compile(
    r"(?<![\w-])(?:(?P<word>[a-z]{1,3}-[a-z]{1,2}) ?\d{1,4}[eh]?|[a-z]{2}-\d{3}-[a-z]{2}|[a-z]{2}-\d{2}-\d{2}|\d{2}-\d{2}-[a-z]{2}|"
    r"\d{2}-[a-z]{2,3}-\d{1,2}|\d-[a-z]{3}-\d{2}|[a-z]{1,2}-\d{3}-[a-z]{1,2})(?![\w-])"
)
_NO_PLATES = frozenset("wi-fi hi-fi lo-fi sci-fi co-op pre-op re-do to-do no-go re-up check-in log-in".split())
_LOOSE = re.compile(
    r"(?<![\w-])([a-z]{2}\d{2} ?[a-z]{3}|[a-z]{2} \d{2} [a-z]{3}|[a-z]{3}[ -]\d{3,4}|\d{3}[ -][a-z]{3}|[a-z]{1,3} [a-z]{1,2} \d{2,4}|"
    r"[a-z]{2} \d{3} [a-z]{2}|\d[a-z]{3}\d{3})(?![\w-])"
)
_CARS = frozenset(
    "plate plates tag registration reg registered car cars truck van vehicle motorcycle motorbike suv parked licence license".split()
)


def plates(u: Utterance) -> Iterator[Span]:
    """Plates with hyphens anywhere, other forms where the text speaks of a car or a plate."""
    if "n" not in u.codes:
        return
    text = u.clean.folded
    if "-" in text:
        for match in _HYPHENED.finditer(text):
            if match["word"] not in _NO_PLATES:
                yield Span(match.start(), match.end(), "PLATE", "form")
    if not _CARS.isdisjoint(u.words):
        for match in _LOOSE.finditer(text):
            words = re.findall("[a-z]+", match[1])
            if not any(
                word in lexicon("stopwords") or word in lexicon("units") or word in lexicon("months") for word in words
            ):
                yield Span(match.start(), match.end(), "PLATE", "form")
