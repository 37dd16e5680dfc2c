"""Parts of addresses that stand alone: streets named like people, street names that are announced, house and unit numbers."""

from collections.abc import Iterator

from proxid.classify.identifiers.addresses import ADDRESS_WORDS, DOORS, NUMBER, STRONG, tail
from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.searches import Search, rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_ON, _PUBLIC = words("addresses", "prepositions"), words("addresses", "public")
_AREAS = words("addresses", "areas")
_HOUSED = "|".join(sorted(words("addresses", "numbered")))
_NUMBERED = Search(rf"\b(?:{_HOUSED})[ ./]{{0,2}}(?:number|no\.?|num|#)(?: is| was|:)? ?(?=[\w#])")
_UNIT = Search(r"\b(?:my|our|his|her|their) (?:apartment|flat|unit|suite|room|door) is (?=\w)|\bunit (?=\d)")
_LETTERED = Search(r"\b(?:unit|(?:at|to|in|from) number) (?=\w)")
_STREET = Search(r"\b(?:my|our|his|her|their|the) street(?: name)? (?:is|was|:) |\bstreet name:? (?:is )?")
_NAME, _NUMBER, _LETTER = kinds("name"), kinds("number"), kinds("letter glued")


def streets(u: Utterance, people: list[Span]) -> list[Span]:
    """Names that turn out to be streets: a street type follows ("jessica track street", "lives by avila landing").

    A type that is an ordinary word needs a house number or a preposition before the name, or a word about addresses.
    """
    if not people:
        return []
    weak = lexicon("street_types")
    near = not (ADDRESS_WORDS | {"side", "corner"}).isdisjoint(u.bag)
    found = []
    for span in people:
        found_at = u.within(span.start, span.end)
        if found_at is None:
            continue
        first, i = found_at
        last = i
        while u.word(last + 1) in STRONG or u.word(last + 1) in weak:
            last += 1
        if last == i and not (first < i and u.words[i] in weak):
            continue
        house = first
        while house and u.codes[house - 1] in _NUMBER:
            house -= 1
        placed = u.word(first - 1) in _ON and u.words[last] not in _PUBLIC
        if house < first and u.words[last] not in _PUBLIC:
            found.append(Span(*u.span(house, tail(u, last)), "ADDRESS", "street of a name"))
        elif last > i and (near or placed or any(u.words[j] in STRONG for j in range(i + 1, last + 1))):
            found.append(Span(span.start, u.tokens[last].end, "ADDRESS", "street of a name"))
    return found


@rule(words=DOORS | _AREAS)
def units(u: Utterance) -> Iterator[Span]:
    """ "Apt. 858" on its own line of an address."""
    parts = DOORS if ADDRESS_WORDS.isdisjoint(u.bag) else DOORS | _AREAS
    for i, word in enumerate(u.words):
        if word in parts:
            first = i + 1
            while u.word(first) in (".", "dot", "number", "#", "no"):
                first += 1
            value = NUMBER.match(u.codes, first)
            if value:
                last = value.end() - 1
                last -= last > first and u.words[last] == "i" and not u.glued(last)
                yield Span(*u.span(i, last), "ADDRESS", "unit")


@rule(words=frozenset({"street"}), kinds="said glued")
def announced(u: Utterance) -> Iterator[Span]:
    """ "house number 551", "my apartment is 4c", "the street name is bell estate"."""
    text = u.clean.folded
    for search in (_NUMBERED, _UNIT, _LETTERED):
        for match in search.matches(text):
            i = u.at(match.end())
            value = NUMBER.match(u.codes, i) if i is not None else None
            if value and (search is not _LETTERED or (value[0][-1] in _LETTER and u.words[value.end() - 1] != "i")):
                last = value.end() - 1
                last += u.codes[last + 1 : last + 2] in (*kinds("letter glued"),) and u.word(last + 1) not in ("a", "i")
                yield Span(*u.span(value.start(), last), "ADDRESS", "house number")
    for match in _STREET.matches(text):
        first = u.at(match.end())
        end = None if first is None else _type_after(u, first)
        if first is not None and end is not None:
            yield Span(*u.span(first, end), "ADDRESS", "street name")


def _type_after(u: Utterance, index: int) -> int | None:
    """The street type that ends a name of one to three words that begins at `index`."""
    if u.codes[index] not in _NAME or u.words[index] in lexicon("stopwords"):
        return None
    types = STRONG | lexicon("street_types")
    return next((i for i in range(index + 1, min(index + 4, len(u.words))) if u.words[i] in types), None)
