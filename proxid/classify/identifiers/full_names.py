"""Names that two words make together: "friederike lange", "perez and bird were", "a summer white concert", "did will ferrell".

Asked only where somebody may be named; each is a place where the score of a single word is too low, and the pair is sure.
"""

from collections.abc import Iterator, Sequence
from functools import cache

from proxid.classify.identifiers.gazetteer import UNKNOWN
from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.name_contexts import closed
from proxid.classify.identifiers.name_neighbours import nameable, unknown
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.tagger import known
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.memory import WordMemory
from proxid.classify.places import load as load_places

_MADE, _SAYS, _AUXILIARIES = words("names", "made"), words("names", "says"), words("names", "before_will")
_POSTED, _BE = words("names", "posted"), frozenset({"is", "was", "are", "were", "have", "had", "has"})
_DAYS = frozenset({"birthday", "bday", "birthdays", "anniversary"})
_BANDS, _FAMILIES = words("names", "bands"), words("names", "families")
_REACHED, _REACHED_BY, _RANKS = words("names", "reached"), words("names", "reached_by"), words("names", "ranks")
_PEOPLE = words("names", "kin") | words("names", "more_kin") | _RANKS
_KNOWN_FAMILIES = words("names", "known_families")
_VISITED = words("names", "contact") | {"with"}
_WORD, _PARTICLES = kinds("word"), words("names", "particles")


def pairs(u: Utterance, hits: Sequence[bool]) -> Iterator[int]:
    """Tokens that are names together with a word beside them; `hits` says which are known to be names."""
    asked = [rule for needs, rule in _RULES if not needs.isdisjoint(u.bag)]
    for i, word in enumerate(u.words):
        rules = _OF_RARE + asked if _rare()[word] else asked
        if rules and not hits[i] and any(rule(u, i, hits) for rule in rules) and nameable(u, i) and not _placed(u, i):
            yield i


@cache
def _rare() -> WordMemory[bool]:
    """Whether a word is no ordinary one: the rules in `_OF_RARE` look at no other."""
    known_words = load_gazetteer()
    return WordMemory(lambda word: word[0].isalpha() and known(known_words, word).common == 0, known_words)


def _placed(u: Utterance, index: int) -> bool:
    """Whether a word names a place, alone or with the word beside it."""
    places = load_places()
    beside = (f"{u.word(index - 1)} {u.words[index]}", f"{u.words[index]} {u.word(index + 1)}")
    large = places.get(u.words[index])
    return (large is not None and large.grade > 1) or any(pair in places for pair in beside)


def _plain_surname(u: Utterance, index: int) -> bool:
    """Whether a word is hardly anything but a surname."""
    word = u.word(index)
    grades = known(load_gazetteer(), word)
    return grades.surname >= 3 and grades.common <= 1 and word not in load_places()


def _with_surname(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "friederike lange": a word that no list has before a plain surname."""
    grades = known(load_gazetteer(), u.words[i])
    return (
        not any(grades)
        and u.codes[i] == _WORD
        and len(u.words[i]) > 3
        and _plain_surname(u, i + 1)
        and unknown(u.words[i])
    )


def _will(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "did will ferrell", "will smith": what is no verb there."""
    return u.words[i] == "will" and (u.word(i - 1) in _AUXILIARIES or (_plain_surname(u, i + 1) and closed(u, i + 1)))


def _joined(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "trump and putin", "perez and bird were": joined to a name, and a name to some."""
    if i < 2 or u.words[i - 1] != "and" or not hits[i - 2]:
        return False
    grades = known(load_gazetteer(), u.words[i])
    ends = closed(u, i) or u.word(i + 1) in _BE
    return ends and (unknown(u.words[i]) or (grades.surname >= 3 and u.word(i + 1) in _BE))


def _made(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "a summer white concert": given name and surname before what a person makes."""
    first, last = (i, i + 1) if u.word(i + 2) in _MADE else (i - 1, i) if u.word(i + 1) in _MADE and i else (-1, -1)
    if first < 0 or not nameable(u, last):
        return False
    given, surname = (known(load_gazetteer(), u.words[j]) for j in (first, last))
    return given.given >= 3 and (surname.surname >= 3 or unknown(u.words[last]))


def _says(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "… says cook": who ends a sentence that is told."""
    ends = i + 1 == len(u.words) or u.words[i + 1] == "."
    told = i > LEAST and u.words[i - 1] in _SAYS and ends
    return told and (known(load_gazetteer(), u.words[i]).surname >= 4 or unknown(u.words[i]))


def _birthday(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "add bola birthday": whose it is, where "'s" was not heard."""
    stem = known(load_gazetteer(), u.words[i].removesuffix("s"))
    told = unknown(u.words[i]) or (i > 0 and hits[i - 1] and stem.surname >= 3)
    return u.word(i + 1) in _DAYS and told and u.words[i] not in load_places()


def _written_to(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "send email to cat that", "the mail of ash": to whom or by whom."""
    posted = u.word(i - 1) in ("to", "from", "of") and u.word(i - 2) in _POSTED
    return posted and closed(u, i) and known(load_gazetteer(), u.words[i]).given >= 2


def _family(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "dinner with the garcias", "the bakers next door": not those who play or are played."""
    word = u.words[i]
    if u.word(i - 1) != "the" or not word.endswith("s") or not _BANDS.isdisjoint(u.bag):
        return False
    if word in _KNOWN_FAMILIES and u.word(i - 2) not in _VISITED:
        return False
    stems = [known(load_gazetteer(), word[: -len(end)]) for end in ("s", "es", "zes") if word.endswith(end)]
    own = known(load_gazetteer(), word).common
    plain = word.startswith("o'") or (own <= 1 and any(stem.surname >= 3 and stem.common <= 1 for stem in stems))
    named = any(stem.surname >= 3 for stem in stems) and (closed(u, i) or u.word(i + 1) == "next")
    return plain or (named and not _FAMILIES.isdisjoint(u.bag) and (own <= 1 or u.word(i - 2) in _VISITED))


def _reached(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "toms cell number", "charles telephone number": whose it is, where "'s" was not heard."""
    if u.word(i + 1) not in _REACHED or _REACHED_BY.isdisjoint(u.words[i + 2 : i + 4]):
        return False
    word, names = u.words[i], load_gazetteer()
    stem = names.get(word[:-1], UNKNOWN) if word.endswith("s") else UNKNOWN
    given = max(known(names, word).given, stem.given) >= 4
    return u.word(i - 1) not in ("the", "a") and (given or unknown(word))


def _ranked(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "emails from principal lowry"."""
    grades = known(load_gazetteer(), u.words[i])
    return (
        u.word(i - 1) in _RANKS
        and grades.common <= 1
        and (grades.surname >= 3 or not any(grades))
        and unknown(u.words[i])
    )


def _whose(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "toms principal", "jessicas mother": whose somebody is, where "'s" was not heard."""
    word = u.words[i]
    stem = load_gazetteer().get(word[:-1], UNKNOWN) if word.endswith("s") else UNKNOWN
    return u.word(i + 1) in _PEOPLE and stem.given >= 4 and known(load_gazetteer(), word).common <= 1


def _given(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """A very common given name that is nothing else."""
    grades = known(load_gazetteer(), u.words[i])
    return grades.given >= 4 and grades.common == 0 and u.words[i] not in load_places()


def _nobody_else(u: Utterance, index: int) -> bool:
    """Whether no list has a word."""
    found = 0 <= index < len(u.words) and nameable(u, index) and not any(known(load_gazetteer(), u.words[index]))
    return found and unknown(u.words[index]) and u.words[index] not in load_places()


def _foreign(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "metin gumprich" at the beginning, "guus de jong": words that no list has, side by side or around a particle."""
    first = _nobody_else(u, 0) and _nobody_else(u, 1) and i < 2
    around = _nobody_else(u, i) and u.word(i + 1) in _PARTICLES and i + 2 < len(u.words) and nameable(u, i + 2)
    return first or around


LEAST = 3
"""Tokens before "says" in a sentence that is told."""
_OF_RARE = [_with_surname, _given, _foreign]
_RULES = (
    (frozenset({"will"}), _will), (frozenset({"the"}), _family), (_REACHED, _reached), (_RANKS, _ranked), (_PEOPLE, _whose),
    (frozenset({"and"}), _joined), (_MADE, _made), (_SAYS, _says), (_DAYS, _birthday), (_POSTED, _written_to),
)  # fmt: skip
"""The other rules, each with words of which an utterance has one where it finds anything."""
