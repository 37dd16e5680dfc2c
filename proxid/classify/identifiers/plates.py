"""Number plates: German, British, French, Dutch, Indian and American ones, hyphened or beside a word about cars; and codes of
letters and figures that are spelled, as plates, postcodes and bookings are: "l r six one x y z".
"""

import re
from collections.abc import Iterator

from proxid.classify.identifiers.digit_runs import measure
from proxid.classify.identifiers.kinds import kinds, sequence
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
_LONE = kinds("letter letter-o")
_INDIAN = Search(r"(?<![\w-])([a-z]{2}[ -]?\d{1,2}[ -]?[a-z]{1,3}[ -]?\d{4})(?![\w-])")
_SPELLED = sequence(
    "(?: <letter letter-o repeat>{1,3} <digit teen tens figures>{1,5} <letter letter-o>{1,4} <digit teen tens figures letter-o>{0,8} |"
    " <digit figures>{1,4} <letter letter-o>{1,3} <digit teen tens figures>{1,5} )"
)
LEAST = 5
"""Letters and figures of a spelled code that nothing announces."""
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
    known = lexicon("stopwords") | lexicon("units") | lexicon("months")
    for search in (_INDIAN,) if _CARS.isdisjoint(u.bag) else (_INDIAN, _LOOSE):
        for match in search.matches(text):
            if known.isdisjoint(re.findall("[a-z]+", match[1])):
                yield Span(match.start(), match.end(), "PLATE", "form")


@rule(kinds="letter letter-o")
def spelled(u: Utterance) -> Iterator[Span]:
    """Letters, figures and letters, or figures, letters and figures, told one by one."""
    for match in _SPELLED.finditer(u.codes):
        first, last = match.start(), match.end() - 1
        if u.words[first] in ("a", "i"):
            first += 1
        if u.words[last] in ("a", "i") or u.words[last - 1 : last + 1] in (["a", "m"], ["p", "m"]):
            last -= 1 + (u.words[last] == "m")
        run = measure(u, first, last)
        letters = sum(code in _LONE for code in run.codes)
        if run.digits >= 2 and letters >= 2 and run.digits + letters >= LEAST:
            yield Span(*u.span(first, last), "ID", "spelled")
