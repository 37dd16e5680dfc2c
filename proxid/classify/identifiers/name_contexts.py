"""Ordinary words as names, by what stands around them: "call will", "lunch with grace", "my brother mark", "will is here".

Only words that are common given names are looked at ("will", "rose", "may", "bill"); each rule is a place where a word of
that kind can hardly be anything else.
"""

from collections.abc import Iterator, Sequence
from functools import cache

from proxid.classify.identifiers.gazetteer import UNKNOWN
from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.searches import Search
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_CONTACT, _KIN, _WITH = words("names", "contact"), words("names", "kin"), words("names", "with")
_POSTED, THIRD, _NO_WILL = words("names", "posted"), words("names", "third_person"), words("names", "not_will")
_NEXT, _NOT_PEOPLE = words("names", "next"), words("names", "not_people")
_HELPED = Search(
    r"\b(?:can|could|should|would|do|did|may|must|to)(?: i| we| you| they)? (?:help|make|let|get|stop|keep|see|watch|hear) "
    r"will (?=[a-z])"
)


@cache
def ambiguous() -> frozenset[str]:
    """Common given names that are ordinary words."""
    stop = lexicon("stopwords") | lexicon("months")
    known = load_gazetteer().items()
    return frozenset(w for w, g in known if g.given >= 3 and (g.common >= 2 or w in stop)) - _NOT_PEOPLE


def contexts(u: Utterance, hits: Sequence[bool]) -> Iterator[int]:
    """Tokens that are names for where they stand; `hits` says which are known to be names."""
    if ambiguous().isdisjoint(u.bag):
        return
    for i, word in enumerate(u.words):
        if word in ambiguous() and not hits[i] and (_named(u, i) or _beside(u, i, hits)):
            yield i
    for match in _HELPED.matches(u.clean.folded):
        yield u.after(match.end()) - 1


def closed(u: Utterance, index: int) -> bool:
    """Whether what follows a token leaves it a thing or person of its own: the end, a mark, a function word."""
    after = u.word(index + 1)
    return not after or after in _NEXT or u.codes[index + 1] in kinds("comma mark") or after in (".", "?", "!")


def _closed_name(u: Utterance, index: int) -> bool:
    """Whether a name is closed, or the surname after it: "mark rivers"."""
    after = load_gazetteer().get(u.word(index + 1), UNKNOWN)
    return closed(u, index) or (after.surname >= 3 and closed(u, index + 1))


def _named(u: Utterance, i: int) -> bool:
    before, two = u.word(i - 1), u.word(i - 2)
    if u.words[i] == "will" and u.word(i + 1) in THIRD and before not in _NO_WILL:
        return True
    if u.word(i + 1) in ("is", "was") and u.word(i + 2) in ("my", "our", "his", "her") and u.word(i + 3) in _KIN:
        return before not in _NO_WILL
    if before in _KIN and two in ("my", "our", "his", "her", "your", "their"):
        return closed(u, i) or u.word(i + 1) in THIRD
    if not _closed_name(u, i):
        return False
    return (
        before in _CONTACT
        or (before == "with" and two in _WITH)
        or (before in ("from", "to", "for") and two in _POSTED)
    )


def _beside(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "call dad and will", "maria and joy": after "and" that joins it to a person."""
    joined = u.word(i - 1) == "and" and i > 1 and _closed_name(u, i)
    return joined and (hits[i - 2] or (u.words[i - 2] in ambiguous() and _named(u, i - 2)) or (
        u.words[i - 2] in _KIN and u.word(i - 3) in _CONTACT))  # fmt: skip
