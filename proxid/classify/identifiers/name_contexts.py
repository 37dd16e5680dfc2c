"""Ordinary words as names, by what stands around them: "call will", "lunch with grace", "my brother mark", "will is here".

Only words that are common given names are looked at ("will", "rose", "may", "bill"); each rule is a place where a word of
that kind can hardly be anything else.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_CONTACT = frozenset(
    "call text phone ring message email tell ask invite dial facetime skype contact meet visit thank hug notify inform inviting "
    "calling texting messaging emailing asking telling visiting meeting called texted messaged emailed asked told visited met".split()
)
_KIN = frozenset(
    "brother sister son daughter mom mum dad mother father husband wife uncle aunt cousin nephew niece grandson granddaughter "
    "grandma grandpa grandmother grandfather friend boyfriend girlfriend boss neighbor neighbour roommate colleague coworker "
    "partner fiance fiancee buddy".split()
)
_WITH = frozenset(
    "meeting lunch dinner breakfast brunch appointment coffee date drinks session interview trip walk talk chat plans meet "
    "speak talking speaking chatting living staying call conversation party".split()
)
_POSTED = frozenset("message messages email emails text texts call calls letter mail note reply gift present invitation invite "
                    "birthday voicemail voicemails".split())  # fmt: skip
_THIRD = frozenset(
    "is was has wants said says called needs likes loves lives thinks told asked came went got works".split()
)
_NO_WILL = frozenset(
    "my your his her our their the a free good living last this that ill iron strong political own at".split()
)
_NEXT = frozenset(
    "that if to and about at on for when his her whether i 's she he back now tomorrow today please tonight again we they my our "
    "or with from in tomorrow's how what where why you their this".split()
)
_HELPED = re.compile(r"\b(?:can|could|should|would|do|did|may|must|to)(?: i| we| you| they)? (?:help|make|let|get|stop|keep|see|watch|hear) "
                     r"will (?=[a-z])")  # fmt: skip
_NOT_PEOPLE = frozenset("king prince baby angel honey love star major home work miss christian dear".split())


@cache
def ambiguous() -> frozenset[str]:
    """Common given names that are ordinary words."""
    stop = lexicon("stopwords") | lexicon("months")
    known = load_gazetteer().items()
    return frozenset(w for w, g in known if g.given >= 3 and (g.common >= 2 or w in stop)) - _NOT_PEOPLE


def contexts(u: Utterance, hits: Sequence[bool]) -> Iterator[int]:
    """Tokens that are names for where they stand; `hits` says which are known to be names."""
    words = u.words
    if ambiguous().isdisjoint(words):
        return
    for i, word in enumerate(words):
        if word in ambiguous() and not hits[i] and (_named(u, i) or _beside(u, i, hits)):
            yield i
    if "will" in words:
        for match in _HELPED.finditer(u.clean.folded):
            yield next(i for i, t in enumerate(u.tokens) if t.end == match.end() - 1)


def _closed(u: Utterance, index: int) -> bool:
    """Whether what follows a token leaves it a thing or person of its own: the end, a mark, a function word."""
    after = u.word(index + 1)
    return not after or after in _NEXT or u.codes[index + 1] in "vz" or after in (".", "?", "!")


def _named(u: Utterance, i: int) -> bool:
    before, two = u.word(i - 1), u.word(i - 2)
    if u.words[i] == "will" and u.word(i + 1) in _THIRD and before not in _NO_WILL:
        return True
    if u.word(i + 1) in ("is", "was") and u.word(i + 2) in ("my", "our", "his", "her") and u.word(i + 3) in _KIN:
        return before not in _NO_WILL
    if before in _KIN and two in ("my", "our", "his", "her", "your", "their"):
        return _closed(u, i) or u.word(i + 1) in _THIRD
    if not _closed(u, i):
        return False
    return (
        before in _CONTACT
        or (before == "with" and two in _WITH)
        or (before in ("from", "to", "for") and two in _POSTED)
    )


def _beside(u: Utterance, i: int, hits: Sequence[bool]) -> bool:
    """ "call dad and will", "maria and joy": after "and" that joins it to a person."""
    joined = u.word(i - 1) == "and" and i > 1 and _closed(u, i)
    return joined and (hits[i - 2] or (u.words[i - 2] in ambiguous() and _named(u, i - 2)) or (
        u.words[i - 2] in _KIN and u.word(i - 3) in _CONTACT))  # fmt: skip
