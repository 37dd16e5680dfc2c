"""Parts of addresses that stand alone: streets named like people, street names that are announced, house and unit numbers."""

import re
from collections.abc import Iterator

from proxid.classify.identifiers.postal import ADDRESS_WORDS, DOORS, NUMBER, STRONG, tail
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_ON = frozenset("on along near off down up from at by past onto".split())
_PUBLIC = frozenset(
    "park parks lake beach center island islands mall stadium station hall church bridge square mountain mountains".split()
)
"""Types after a name that are mostly places for everybody ("bryant park"): only an address makes them a street."""
_NUMBERED = re.compile(
    r"\b(?:house|building|door|street|flat|apartment|apt|unit|suite|lot) ?(?:number|no|num|#)(?: is| was|:)? ?(?=[\w#])"
)
_HOUSED = ("house", "building", "door", "street", "flat", "apartment", "apt", "unit", "suite", "lot")
"""Words of which `_NUMBERED` and `_UNIT` have one."""
_NUMBERS = frozenset("ndtyx")
_UNIT = re.compile(r"\b(?:my|our|his|her|their) (?:apartment|flat|unit|suite) is (?=\w)|\bunit (?=\d)")
_STREET = re.compile(r"\b(?:my|our|his|her|their|the) street(?: name)? (?:is|was|:) |\bstreet name:? (?:is )?")


def streets(u: Utterance, people: list[Span]) -> list[Span]:
    """Names that turn out to be streets: a street type follows ("jessica track street", "lives by avila landing").

    A type that is an ordinary word needs a house number or a preposition before the name, or a word about addresses.
    """
    if not people:
        return []
    weak = lexicon("street_types")
    near = not ADDRESS_WORDS.isdisjoint(u.words) or "side" in u.words or "corner" in u.words
    starts = {token.start: i for i, token in enumerate(u.tokens)}
    ends = {token.end: i for i, token in enumerate(u.tokens)}
    found = []
    for span in people:
        i, first = ends.get(span.end), starts.get(span.start)
        if i is None or first is None:
            continue
        last = i
        while u.word(last + 1) in STRONG or u.word(last + 1) in weak:
            last += 1
        if last == i and not (first < i and u.words[i] in weak):
            continue
        house = first
        while house and u.codes[house - 1] in "dtyhnm":
            house -= 1
        placed = u.word(first - 1) in _ON and u.words[last] not in _PUBLIC
        if house < first and u.words[last] not in _PUBLIC:
            found.append(Span(*u.span(house, tail(u, last)), "ADDRESS", "street of a name"))
        elif last > i and (near or placed or any(u.words[j] in STRONG for j in range(i + 1, last + 1))):
            found.append(Span(span.start, u.tokens[last].end, "ADDRESS", "street of a name"))
    return found


def units(u: Utterance) -> Iterator[Span]:
    """ "Apt. 858" on its own line of an address."""
    for i, word in enumerate(u.words):
        if word in DOORS:
            first = i + 1
            while u.word(first) in (".", "dot", "number", "#", "no"):
                first += 1
            value = NUMBER.match(u.codes, first)
            if value:
                yield Span(*u.span(i, value.end() - 1), "ADDRESS", "unit")


def announced(u: Utterance) -> Iterator[Span]:
    """ "house number 551", "my apartment is 4c", "the street name is bell estate"."""
    text = u.clean.folded
    numbered = not _NUMBERS.isdisjoint(u.codes) and any(word in text for word in _HOUSED)
    if not numbered and "street" not in u.words:
        return
    starts = {token.start: i for i, token in enumerate(u.tokens)}
    if numbered:
        for rule in (_NUMBERED, _UNIT):
            for match in rule.finditer(text):
                i = starts.get(match.end())
                value = NUMBER.match(u.codes, i) if i is not None else None
                if i is not None and value:
                    last = value.end() - 1
                    last += u.codes[last + 1 : last + 2] in ("l", "x") and u.word(last + 1) not in ("a", "i")
                    yield Span(*u.span(i, last), "ADDRESS", "house number")
    if "street" in u.words:
        for match in _STREET.finditer(text):
            i = starts.get(match.end())
            if i is not None and u.codes[i] in "wb" and u.words[i] not in lexicon("stopwords"):
                last = i
                for j in range(i + 1, min(i + 4, len(u.words))):
                    if u.words[j] in STRONG or u.words[j] in lexicon("street_types"):
                        last = j
                        break
                if last > i:
                    yield Span(*u.span(i, last), "ADDRESS", "street name")
