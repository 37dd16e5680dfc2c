"""Personal names: what the tagger finds, what a phrase such as "my name is" announces, and what is spelled out."""

import re
from collections.abc import Iterator

from proxid.classify.identifiers import full_names, name_contexts, name_neighbours, tagger
from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.name_contexts import THIRD
from proxid.classify.identifiers.searches import Search
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

TITLES = words("names", "titles")
_ANNOUNCED = Search(
    r"\b(?:names? ?:|(?:my|his|her|their|the|patient's|full|first|last|middle|maiden|family|sur|legal|nick|real|whose) ?name"
    r"(?: on (?:it|the \w+))?(?: is|'s|:| was|=)|names? (?:is|are)|i go by|(?:guy|man|woman|girl|boy|person|kid|lady|"
    r"someone|somebody|friend|doctor|dog|child|baby|son|daughter|lawyer) (?:named|called)|named(?: after)?|signed(?: by)?,?) "
)
_NEVER, _NOT_PEOPLE = words("names", "never"), words("names", "not_people")
_PLAIN_TITLES = frozenset({"mr", "mrs", "ms", "dr"})
_FUNCTION, _ABOUT = words("names", "function_surnames"), words("names", "titles_about")
_AUXILIARIES, _STREETS = words("names", "auxiliaries"), words("addresses", "sure_types")
_INNER, _PARTICLES = words("names", "inner"), words("names", "particles")
_NAME, _LONE = kinds("name"), kinds("letter letter-o")
_LINKS = frozenset({"-", ".", "'"})
_ENDS = frozenset({".", "!", "?", ":", '"'})
_STRETCH = re.compile("[hb](?:[lb]{0,2}+[hb])*")
"""h: a name; l: what may link two; b: both."""
LONGEST = 3
"""Words taken as a name after a phrase that announces one."""


def names(u: Utterance, tags: tagger.Tagger, raised: float = 0.0) -> list[Span]:
    """Every span of a personal name; all occurrences of a word found once as a name are names.

    `raised`: what is added to the tagger's threshold; where it is, names of two words are not looked for.
    """
    lower = u.clean.shown == u.clean.folded
    shown = u.words if lower else [u.clean.shown[t.start : t.end] for t in u.tokens]
    shapes = ["-"] * len(shown) if lower else tagger.shapes_of(shown)
    grades, candidates = tags.grades(u.words)
    hits = tags.names(u.words, grades, candidates, shapes, raised)
    if not lower and _only_sentences(u):
        plain = tags.names(u.words, grades, candidates, ["-"] * len(shown), raised)
        hits = [one or other for one, other in zip(hits, plain, strict=True)]
    for i in _announced(u, tags):
        hits[i] = True
    for i in name_contexts.contexts(u, hits):
        hits[i] = True
    for i in name_neighbours.neighbours(u, hits):
        hits[i] = True
    for i in () if raised > 0 else full_names.pairs(u, hits):
        hits[i] = True
    if not lower:
        _capitals(u.words, shown, shapes, (grades, candidates), hits)
    _widen(u, hits, tags)
    if "and" in u.bag and True in hits:
        for i in name_contexts.contexts(u, hits):  # "hannah green and mark rivers": mark is known by green
            hits[i] = True
        _widen(u, hits, tags)
    return [Span(*u.span(a, b), "NAME", "name") for a, b in _stretches(u, hits)]


def _only_sentences(u: Utterance) -> bool:
    """Whether capitals only begin sentences (or are "I"): then a name may be without one, as in lower-case text."""
    shown = u.clean.shown
    return not any(
        shown[token.start].isupper() and token.text != "i" and i and u.words[i - 1] not in _ENDS
        for i, token in enumerate(u.tokens)
    )


def _announced(u: Utterance, tags: tagger.Tagger) -> Iterator[int]:
    """Tokens after "my name is" and the like, and after a title."""
    for match in _ANNOUNCED.matches(u.clean.folded):
        first = u.after(match.end())
        for i in range(first, min(first + LONGEST, len(u.words))):
            if not _nameable(u, i) or (i > first and not _likely(u, i, tags)):
                break
            yield i
    for i, word in enumerate(() if TITLES.isdisjoint(u.bag) else u.words[:-1]):
        after = i + 1 + (u.words[i + 1] in (".", "dot"))
        if word in TITLES and after < len(u.words) and _titled(u, word, after, tags):
            yield after


def _titled(u: Utterance, title: str, index: int, tags: tagger.Tagger) -> bool:
    """Whether a name follows a title: a word, or an initial where the title is nothing else."""
    if u.codes[index] == kinds("letter"):
        return title in _PLAIN_TITLES
    if u.words[index] in _FUNCTION and title in _PLAIN_TITLES:
        before = u.word(index - 2 - (u.words[index - 1] in (".", "dot")))
        after = u.word(index + 1)
        return before not in _ABOUT and after not in TITLES and (name_contexts.closed(u, index) or after in THIRD)
    return _nameable(u, index) and (title not in ("miss", "doctor", "sir") or _likely(u, index, tags))


def _capitals(
    words: list[str], shown: list[str], shapes: list[str], known: tuple[list[str], list[bool]], hits: list[bool]
) -> None:
    """In written text: a capital on a word that is not English, or on a given name and the surname after it."""
    grades, candidates = known
    for i, shape in enumerate(shapes):
        if shape not in ("U", "C") or hits[i] or not candidates[i] or shown[i].isupper():
            continue
        unknown = grades[i] == "oov0" and len(words[i]) > 3
        given = grades[i][0].isdigit() and grades[i][0] >= "2" and grades[i][-1] != "M"
        follows = (
            given
            and i + 1 < len(shapes)
            and shapes[i + 1] == "U"
            and grades[i + 1][1:2] >= "1"
            and grades[i + 1][:1].isdigit()
        )
        if unknown or follows or (given and shape == "U" and grades[i][2] <= "2" and grades[i][3:] in ("0", "1")):
            hits[i] = True


def _nameable(u: Utterance, index: int) -> bool:
    return u.codes[index] in _NAME and u.words[index] not in lexicon("stopwords") and u.words[index] not in _NEVER


def _likely(u: Utterance, index: int, tags: tagger.Tagger) -> bool:
    """Whether a word is better known as a name than as an English word."""
    g = tagger.known(tags.gazetteer, u.words[index])
    return g.common <= 1 or max(g.given, g.surname) >= max(g.common, 3)


def _widen(u: Utterance, hits: list[bool], tags: tagger.Tagger) -> None:
    """Take in surnames and particles beside a name, titles before it, and its other occurrences."""
    if True not in hits:
        return
    n = len(hits)
    for i in range(1, n):
        if hits[i - 1] and not hits[i] and u.codes[i] in _NAME and _surname(u, i, tags):
            hits[i] = True
    for i in range(n - 2, -1, -1):
        particle = u.words[i] in _PARTICLES or (
            u.words[i] in _INNER and i > 0 and (hits[i - 1] or u.words[i - 1] in _PARTICLES)
        )
        if hits[i + 1] and not hits[i] and (particle or _given_before(u, i, tags)):
            hits[i] = True
    _initials(u, hits)
    for i in range(n - 1):
        first = i + 1 + (u.words[i + 1] == "." and i + 2 < n)
        if u.words[i] in TITLES and hits[first]:
            hits[i] = True
    found = {u.words[i] for i in range(n) if hits[i] and len(u.words[i]) > 2 and u.words[i] not in TITLES}
    for i in range(n):
        if u.words[i] in found or (
            u.words[i].endswith("s")
            and u.words[i][:-1] in found
            and u.codes[i] == kinds("word")
            and _likely(u, i, tags)
        ):
            hits[i] = True


def _initials(u: Utterance, hits: list[bool]) -> None:
    """Single letters before or within a name: "j k rowling", "John Q. Public"."""
    for i in range(len(hits) - 2, -1, -1):
        after = i + 1 + (u.words[i + 1] == "." and i + 2 < len(hits))
        if (
            hits[after]
            and u.codes[i] in _LONE
            and (u.words[i] not in ("i", "a") or (u.words[i + 1] == "." and after > i + 1))
        ):
            hits[i] = True
    for i in range(1, len(hits)):
        end = i + 1 == len(hits) or u.words[i + 1] in (".", "'s")
        if hits[i - 1] and u.codes[i] in _LONE and u.words[i] not in ("i", "a") and end:
            hits[i] = True


def _surname(u: Utterance, index: int, tags: tagger.Tagger) -> bool:
    word = u.words[index]
    if word in lexicon("stopwords") or word in lexicon("months"):
        return False
    g = tagger.known(tags.gazetteer, word)
    shown = u.clean.shown[u.tokens[index].start]
    capital = shown.isupper() and not u.clean.shown[u.tokens[index - 1].start + 1 : u.tokens[index - 1].end].isupper()
    before = tagger.known(tags.gazetteer, u.words[index - 1])
    if g.surname >= 3 and before.given >= 3 and before.common <= 3 and (g.surname >= 4 or _closes(u, index)):
        return True
    unlisted = g.common == 0 and word not in tagger.ABBREVIATIONS and not tagger.plain(tags.gazetteer, word)
    return unlisted or (g.common <= 2 and g.surname >= 2) or (g.surname >= 3 and g.common <= 3 and capital)


def _closes(u: Utterance, index: int) -> bool:
    """Whether a surname that is an ordinary word ends a name: "pay jessica field"; not "did jeff post on it"."""
    asked = not _AUXILIARIES.isdisjoint(u.words[max(index - 4, 0) : index])
    other = u.words[index] in _STREETS or u.words[index - 1] in _NOT_PEOPLE
    return name_contexts.closed(u, index) and not asked and not other


def _given_before(u: Utterance, index: int, tags: tagger.Tagger) -> bool:
    """A given name right before a surname: one that is no ordinary word, or any before a plain surname."""
    g = tagger.known(tags.gazetteer, u.words[index])
    after = tagger.known(tags.gazetteer, u.words[index + 1])
    plain = after.surname >= 3 and after.given <= 2 and after.common <= 3
    return u.codes[index] in _NAME and ((g.given >= 3 and g.common <= 1) or (g.given >= 3 and plain))


def _stretches(u: Utterance, hits: list[bool]) -> Iterator[tuple[int, int]]:
    """Neighbouring name words as one span, with up to two hyphens, dots and initials between them."""
    linked = [
        word in _LINKS or (code == kinds("letter") and word not in ("a", "i"))
        for word, code in zip(u.words, u.codes, strict=True)
    ]
    marks = "".join("-lhb"[2 * hit + link] for hit, link in zip(hits, linked, strict=True))
    for match in _STRETCH.finditer(marks):
        yield match.start(), match.end() - 1
