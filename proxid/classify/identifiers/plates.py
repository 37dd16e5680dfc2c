"""Number plates by their form: German, British, French, Dutch and American ones, hyphened or beside a word about cars."""

import re
from collections.abc import Iterator

from proxid.classify.identifiers.searches import Search, rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_HYPHENED = Search(
    r"(?<![\w-])(?:(?P<word>[a-z]{1,3}-[a-z]{1,2}) ?\d{1,4}[eh]?|[a-z]{2}-\d{3}-[a-z]{2}|[a-z]{2}-\d{2}-\d{2}|\d{2}-\d{2}-[a-z]{2}|"
    r"\d{2}-[a-z]{2,3}-\d{1,2}|\d-[a-z]{3}-\d{2}|[a-z]{1,2}-\d{3}-[a-z]{1,2})(?![\w-])"
)
_NO_PLATES, _CARS = words("plates", "never"), words("plates", "cars")
_LOOSE = Search(
    r"(?<![\w-])([a-z]{2}\d{2} ?[a-z]{3}|[a-z]{2} \d{2} [a-z]{3}|[a-z]{3}[ -]\d{3,4}|\d{3}[ -][a-z]{3}|[a-z]{1,3} [a-z]{1,2} \d{2,4}|"
    r"[a-z]{2} \d{3} [a-z]{2}|\d[a-z]{3}\d{3})(?![\w-])"
)


@rule(kinds="figures")
def plates(u: Utterance) -> Iterator[Span]:
    """Plates with hyphens anywhere, other forms where the text speaks of a car or a plate."""
    text = u.clean.folded
    for match in _HYPHENED.matches(text):
        if match["word"] not in _NO_PLATES:
            yield Span(match.start(), match.end(), "PLATE", "form")
    if not _CARS.isdisjoint(u.bag):
        for match in _LOOSE.matches(text):
            known = lexicon("stopwords") | lexicon("units") | lexicon("months")
            if known.isdisjoint(re.findall("[a-z]+", match[1])):
                yield Span(match.start(), match.end(), "PLATE", "form")
