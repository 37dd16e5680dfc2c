"""Works, characters, diseases, laws and signs that bear the name of a person: "watch doctor who", "parkinson's", "am i a leo".

They stay unmasked only where three things hold: the whole title is on the list (data/rules/works.toml), the words
around it say that a work is meant, and nothing says that a person is (a verb of contact or a message beside it, "'s"
after it). What is doubtful stays masked: somebody may be called Harry Potter.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import phrases, words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon
from proxid.classify.places import load as load_places

_DOES, _PARTS, _BETWEEN = words("works", "does"), words("works", "parts"), words("works", "between")
_WORKS, _PARTED, _ASKS = words("works", "works") | _PARTS, words("works", "parted"), words("works", "asks")
_CHARACTERS = phrases("works", "characters")
_PERSONAL = (
    words("names", "contact") | words("names", "contact_verbs") | words("names", "posted") | words("names", "titles")
)
_OWNERS = words("names", "owners") | words("names", "kin") | words("names", "kin_titles")
_UNMISTAKABLE = phrases("works", "unmistakable")
_EPONYMS, _NAMED_AFTER, _DISEASES = (words("works", key) for key in ("eponyms", "named_after", "diseases"))
_SIGNS, _ZODIAC, _QUESTIONS = words("works", "signs"), words("works", "zodiac"), words("names", "questions")
_AIRLINES, _FLYING = words("works", "airlines"), words("works", "flying")
_TRAVELLED, _TO = words("works", "travelled"), words("works", "to")
_MUSIC = frozenset({"play", "sing", "stream"})
_OTHERS = _MUSIC | _EPONYMS | _SIGNS | _FLYING | _TRAVELLED
"""Words of which a text has one if a name stays that no title is."""
REACH = 8
"""Tokens in which "who played" is looked for before a title."""


@cache
def _titles() -> tuple[re.Pattern[str], frozenset[str]]:
    """The expression of all titles, the longest first, and a word of each that few other texts have."""
    titles = sorted(phrases("works", "titles") | _CHARACTERS | _UNMISTAKABLE, key=len, reverse=True)
    firsts = frozenset(
        next(word for word in re.split("[ ']", title) if word not in lexicon("stopwords")) for title in titles
    )
    return re.compile(rf"(?<![\w'])(?:{'|'.join(map(re.escape, titles))})(?![\w'])"), firsts


def titles(u: Utterance) -> list[tuple[int, int]]:
    """Characters of the titles in an utterance that are surely meant as works."""
    pattern, firsts = _titles()
    named = () if _OTHERS.isdisjoint(u.bag) else (*_played(u), *_eponyms(u), *_plain(u))
    found = [u.span(*place) for place in named]
    if firsts.isdisjoint(u.bag):
        return found
    for match in pattern.finditer(u.clean.folded):
        place = u.within(*match.span())
        if place is not None and _meant(u, *place):
            found.append(match.span())
    return found


def _played(u: Utterance) -> Iterator[tuple[int, int]]:
    """ "play rose by …": what stands between is a title, whatever it is called."""
    for i in range(len(u.words) - 2 if "by" in u.bag and not _MUSIC.isdisjoint(u.bag) else 0):
        by = next((j for j in range(i + 2, min(i + REACH, len(u.words) - 1)) if u.words[j] == "by"), 0)
        if u.words[i] in _MUSIC and by and (_PERSONAL | _OWNERS).isdisjoint(u.words[i + 1 : by]):
            yield i + 1, by - 1


def _eponyms(u: Utterance) -> Iterator[tuple[int, int]]:
    """ "parkinson's", "newton's second law", not "call parkinson"."""
    for i, word in enumerate(() if _EPONYMS.isdisjoint(u.bag) else u.words):
        if word in _EPONYMS and u.word(i - 1) not in _PERSONAL | _OWNERS:
            of = u.word(i + 1) == "'s"
            after = u.words[i + 1 + of : i + 3 + of]
            if (of and word in _DISEASES) or not _NAMED_AFTER.isdisjoint(after):
                yield i, i


def _plain(u: Utterance) -> Iterator[tuple[int, int]]:
    """ "is leo compatible with aries", "how many bags may i take with delta", "a visa to israel"."""
    signs = _SIGNS & u.bag
    meant = signs if len(signs) > 1 or not _ZODIAC.isdisjoint(u.bag) else frozenset()
    meant |= frozenset() if _FLYING.isdisjoint(u.bag) else _AIRLINES
    travelled = not _TRAVELLED.isdisjoint(u.bag)
    asked = u.bag - {"tell"} if "me" in u.bag else u.bag
    if (travelled or not meant.isdisjoint(u.bag)) and _PERSONAL.isdisjoint(asked):
        for i, word in enumerate(u.words):
            if word in meant or (travelled and word in load_places() and u.word(i - 1) in _TO):
                yield i, i


def _meant(u: Utterance, first: int, last: int) -> bool:
    """Whether the words around tokens `first`..`last` say that they are a work, and none that they are a person."""
    begin = _leading(u, first)
    leading, before, after = frozenset(u.words[begin:first]), u.word(begin - 1), u.word(last + 1)
    if after == "'s" or before in _PERSONAL or not _PERSONAL.isdisjoint(leading) or u.word(first - 1) in _OWNERS:
        return False
    title = " ".join(u.words[first : last + 1])
    if title in _UNMISTAKABLE and u.words[0] in _QUESTIONS and (_PERSONAL | _OWNERS).isdisjoint(u.bag - {"tell", "'s"}):
        return True
    sure = title not in _CHARACTERS or not _WORKS.isdisjoint(u.bag)
    asks = u.words[0] in ("who", "which") and not _ASKS.isdisjoint(u.words[max(first - REACH, 0) : first])
    asked = asks and sure and (before in _ASKS or before == "in")
    return (sure and before in _DOES) or asked or after in _WORKS or not _WORKS.isdisjoint(leading)


def _leading(u: Utterance, first: int) -> int:
    """First of the words that lead to a title: "the movie", "an episode of"."""
    begin = first
    while begin and (
        u.words[begin - 1] in _BETWEEN
        or u.words[begin - 1] in _WORKS
        or (u.words[begin - 1] in _PARTED and u.word(begin - 2) in _PARTS)
    ):
        begin -= 1
    return begin


def without(people: Iterable[Span], kept: list[tuple[int, int]]) -> list[Span]:
    """The spans of people that are not inside of a title."""
    return [span for span in people if not any(start <= span.start and span.end <= end for start, end in kept)]
