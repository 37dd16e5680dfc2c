"""Street addresses as they are given on the European continent: "12 rue de la paix", "hauptstrasse 5", "calle mayor 23"."""

import re
from collections.abc import Iterator

from proxid.classify.identifiers.gazetteer import UNKNOWN
from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.identifiers.postal import NOT_NAMES, RESIDENCE, tail
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_SURE = frozenset(
    "rue calle avenida rua viale piazza impasse allee chemin ulica paseo carrer travessa strada rambla camino praca vicolo "
    "carretera quai".split()
)
_WEAK = frozenset("via place corso plaza avenue boulevard cours ul".split())
"""Types that are English words too: they need a particle after a number, or a number after a preposition."""
_PARTICLES = frozenset(
    "de du des la le les l d del della delle dei degli do da dos das di el los las san santa saint sainte st".split()
)
_BEFORE = frozenset("to at in on is address is: : live lives from near".split())
_ENDINGS = ("strasse", "strase", "str", "weg", "platz", "allee", "gasse", "damm", "ufer", "straat", "laan", "gracht", "plein",
            "kade", "dijk", "gatan", "vagen", "vej", "gade", "veien", "utca")  # fmt: skip
_DETACHED = frozenset(_ENDINGS) - {"kade", "dijk", "vej", "gade"}
_NUMBER = re.compile(r"[dtyhnm](?:k?[dtyhnmo])*[lx]?")
LONGEST = 4


def foreign(u: Utterance) -> Iterator[Span]:
    """Streets whose type stands before the name (Romance, Polish) or ends it (German, Dutch, Nordic), with a house number."""
    places = [i for i, word in enumerate(u.words) if word in _SURE or word in _WEAK or word.endswith(_ENDINGS)]
    if not places:
        return
    homes = frozenset(match.end() + 1 for match in RESIDENCE.finditer(u.clean.folded))
    for i in places:
        word = u.words[i]
        found = _leading(u, i, homes) if word in _SURE or word in _WEAK else None
        if found is None and word.endswith(_ENDINGS):
            found = _ending(u, i, homes)
        if found is not None:
            yield Span(*u.span(found[0], tail(u, found[1])), "ADDRESS", "foreign")


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
    after = _number_after(u, index + 1 + (u.word(index + 1) == "."))
    first = index
    while first and (
        u.words[first - 1] == "-" or (detached and first == index) or (first < index and u.words[first] == "-")
    ):
        first -= 1
    if detached and (first == index or not _nameable(u, first)):
        return None
    if after is None:
        return (first, index) if u.tokens[first].start in homes else None
    return first, after


def _number_before(u: Utterance, index: int) -> tuple[int, bool]:
    """First token of a house number right before `index`, and whether there is one."""
    first = index - (u.word(index - 1) == ",")
    first -= u.word(first - 1) in ("bis", "ter")
    start = first
    while first and u.codes[first - 1] in "dtyhnx":
        first -= 1
    return (first, True) if first < start else (index, False)


def _number_after(u: Utterance, index: int) -> int | None:
    """Last token of a house number that begins at `index`."""
    while u.word(index) in (",", "number", "no", "nr", "numero"):
        index += 1
    match = _NUMBER.match(u.codes, index)
    if (
        match is None
        or u.word(match.end()) in lexicon("units")
        or u.word(match.end()) in NOT_NAMES - {"and", "in", "to", "at"}
    ):
        return None
    return match.end() - 1


def _nameable(u: Utterance, index: int) -> bool:
    return u.codes[index] in "wb" and u.words[index] not in lexicon("stopwords") and u.words[index] not in NOT_NAMES


def _ordinary(word: str) -> bool:
    return load_gazetteer().get(word, UNKNOWN).common >= 2
