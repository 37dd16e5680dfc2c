"""Street addresses as they are given on the European continent: "12 rue de la paix", "hauptstrasse 5", "calle mayor 23"."""

from collections.abc import Iterator

from proxid.classify.identifiers.addresses import NOT_NAMES, NUMBER, RESIDENCE, tail
from proxid.classify.identifiers.gazetteer import UNKNOWN
from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.name_neighbours import unknown
from proxid.classify.identifiers.numbers import ORDINALS
from proxid.classify.identifiers.searches import rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon
from proxid.classify.places import load as load_places

_SURE, _WEAK = words("foreign_streets", "sure_types"), words("foreign_streets", "weak_types")
_PARTICLES, _BEFORE = words("foreign_streets", "particles"), words("foreign_streets", "before")
_ENDINGS, _DETACHED = tuple(words("foreign_streets", "endings")), words("foreign_streets", "detached")
SHORTEST = min(map(len, _ENDINGS))
_TAILS = frozenset(ending[-SHORTEST:] for ending in _ENDINGS)
_GOING, _TO, _TYPES = words("foreign_streets", "going"), words("foreign_streets", "to"), _SURE | _WEAK
_PREPOSITIONS = frozenset(tuple(entry.split("_")) for entry in words("foreign_streets", "prepositions"))
_PREPOSED = frozenset(entry[0] for entry in _PREPOSITIONS)
_PARTS, _CROSSED = words("foreign_streets", "parts"), words("foreign_streets", "crossed")
_QUESTIONS, _OWN = words("names", "questions"), frozenset({"i", "me", "my", "we", "us", "our"})
_NUMBERS = frozenset(kinds("number"))
_NUMBER_BEFORE, _NAME = kinds("said glued"), kinds("name")
LONGEST = 4
"""Words of a street's name."""
REACH = 6
"""Tokens before a preposition in which a word says that one goes or sends something there."""


@rule()
def foreign(u: Utterance) -> Iterator[Span]:
    """Streets whose type stands before the name (Romance, Polish) or ends it (German, Dutch, Nordic), with a house number."""
    own = u.words[0] not in _QUESTIONS or not _OWN.isdisjoint(u.bag)
    if own and not _GOING.isdisjoint(u.bag) and not _NUMBERS.isdisjoint(u.kinds):
        yield from _without_type(u)
    if not _PREPOSED.isdisjoint(u.bag) and not _NUMBERS.isdisjoint(u.kinds):
        yield from _preposed(u)
    if not _CROSSED.isdisjoint(u.bag):
        yield from _crossing(u)
    places = [
        i for i, word in enumerate(u.words)
        if word in _TYPES or (word[-SHORTEST:] in _TAILS and word.endswith(_ENDINGS))
    ]  # fmt: skip
    if not places:
        return
    homes = frozenset(match.end() + 1 for match in RESIDENCE.matches(u.clean.folded))
    for i in places:
        word = u.words[i]
        found = _leading(u, i, homes) if word in _SURE or word in _WEAK else None
        if found is None and word.endswith(_ENDINGS):
            found = _ending(u, i, homes)
        if found is not None:
            yield Span(*u.span(found[0], tail(u, found[1])), "ADDRESS", "foreign")


def _preposed(u: Utterance) -> Iterator[Span]:
    """ "am lindenhof 4", "unter den eichen 77": what no English sentence says, before a house number."""
    for i in range(len(u.words) - 2):
        size = next((n for n in (2, 1) if tuple(u.words[i : i + n]) in _PREPOSITIONS), 0)
        last = first = i + size
        while size and last < len(u.words) and last - first < LONGEST and _unknown(u, last):
            last += 1
        end = _number_after(u, last) if last > first else None
        if end is not None:
            yield Span(*u.span(i, tail(u, end)), "ADDRESS", "preposition")


def _crossing(u: Utterance) -> Iterator[Span]:
    """ "4th cross malleswaram", "12 b third main road": the streets of Indian towns."""
    for i in range(1, len(u.words)):
        ordinal = i - 2 if u.words[i - 1] in ("st", "nd", "rd", "th") and u.glued(i - 1) else i - 1
        counted = u.words[i - 1] in ORDINALS or ordinal == i - 2
        if u.words[i] not in _CROSSED or not counted:
            continue
        last = i + (u.word(i + 1) in ("road", "street"))
        while last + 1 < len(u.words) and last - i < 3 and _unknown(u, last + 1):
            last += 1
        if last > i:
            yield Span(*u.span(_number_before(u, ordinal)[0], tail(u, last)), "ADDRESS", "crossing")


def _leading(u: Utterance, index: int, homes: frozenset[int]) -> tuple[int, int] | None:
    name = index + 1 + (u.word(index + 1) == ".")
    while u.word(name) in _PARTICLES:
        name += 1
    if name >= len(u.words) or not _nameable(u, name):
        return None
    last = name
    while last + 1 < len(u.words) and last - name < LONGEST - 1 and _nameable(u, last + 1):
        last += 1
    first, before = _number_before(u, index)
    after = _number_after(u, last + 1)
    sure = u.words[index] in _SURE
    if after is not None and (sure or u.word(index - 1) in _BEFORE):
        return first, after
    if before and (sure or u.word(index + 1) in _PARTICLES):
        while last > name and _ordinary(u.words[last]):
            last -= 1
        return first, last
    if sure and u.tokens[index].start in homes:
        return index, last
    return None


def _ending(u: Utterance, index: int, homes: frozenset[int]) -> tuple[int, int] | None:
    word = u.words[index]
    detached = word in _DETACHED
    if not detached and (len(word) < 6 or _ordinary(word)):
        return None
    first = _first_of_name(u, index, detached)
    if first is None:
        return None
    after = _number_after(u, index + 1 + (u.word(index + 1) == "."))
    start, before = _number_before(u, first)
    if after is None and not before:
        return (first, index) if u.tokens[first].start in homes else None
    return (start if before else first), (index if after is None else after)


def _first_of_name(u: Utterance, index: int, detached: bool) -> int | None:
    """First word of the street whose ending stands at `index`, hyphened or before it; None where it must have one."""
    first = index
    while first and (
        u.words[first - 1] == "-" or (detached and first == index) or (first < index and u.words[first] == "-")
    ):
        first -= 1
    if detached and (first == index or not _nameable(u, first)):
        return None
    while first and index - first < LONGEST and _unknown(u, first - 1):
        first -= 1
    return first


def _without_type(u: Utterance) -> Iterator[Span]:
    """ "drive me to damrak 93", "to 23 gandhi marg": words that English does not have beside a number, where one goes."""
    for i in range(1, len(u.words) - 1):
        if u.words[i] not in _TO or _GOING.isdisjoint(u.words[max(i - REACH, 0) : i]):
            continue
        number = NUMBER.match(u.codes, i + 1)
        first = number.end() if number else i + 1
        last = first
        while (
            last < len(u.words) and last - first < LONGEST + 1 and (_unknown(u, last) or (u.words[last] in _PARTICLES))
        ):
            last += 1
        end = last - 1 if number else _number_after(u, last)
        if last > first and end is not None:
            yield Span(*u.span(i + 1, tail(u, end)), "ADDRESS", "without type")


def _unknown(u: Utterance, index: int) -> bool:
    """Whether a word may be part of a name of a street that English does not have."""
    place = load_places().get(u.words[index])
    return _nameable(u, index) and unknown(u.words[index]) and (place is None or place.grade < 2)


def _number_before(u: Utterance, index: int) -> tuple[int, bool]:
    """First token of a house number right before `index`, and whether there is one."""
    first = index - (u.word(index - 1) == ",")
    lettered = first > 1 and u.codes[first - 1] == kinds("letter") and u.words[first - 1] not in ("a", "i")
    first -= u.word(first - 1) in ("bis", "ter") or (lettered and u.codes[first - 2] in _NUMBER_BEFORE)
    start = first
    while first and u.codes[first - 1] in _NUMBER_BEFORE:
        first -= 1
    return (first, True) if first < start else (index, False)


def _number_after(u: Utterance, index: int) -> int | None:
    """Last token of a house number that begins at `index`."""
    while u.word(index) in (",", "number", "no", "nr", "numero"):
        index += 1
    match = NUMBER.match(u.codes, index)
    if (
        match is None
        or u.word(match.end()) in lexicon("units")
        or u.word(match.end()) in NOT_NAMES - {"and", "in", "to", "at"}
    ):
        return None
    if u.word(match.end()) == "and" and u.codes[match.end() - 1] == kinds("scale"):  # "one hundred and one"
        match = NUMBER.match(u.codes, match.end() + 1) or match
    part = match.end() + (u.word(match.end()) == "-")
    return part if u.word(part) in _PARTS - {"i"} or (part > match.end() and u.word(part) == "i") else match.end() - 1


def _nameable(u: Utterance, index: int) -> bool:
    return u.codes[index] in _NAME and u.words[index] not in lexicon("stopwords") and u.words[index] not in NOT_NAMES


def _ordinary(word: str) -> bool:
    return load_gazetteer().get(word, UNKNOWN).common >= 2
