"""Kinds of tokens, one letter each, and patterns over them that are written with their names.

A rule about spoken numbers, addresses and the like is a pattern over the kinds of an utterance's tokens, so that it is one
pass over a short string whatever the words are: `sequence("<number> (?: <dash>? <number> )*")`.
"""

import re
from collections.abc import Mapping
from functools import cache

KINDS: Mapping[str, str] = {
    "digit": "d",  # one, oh
    "teen": "t",  # ten .. nineteen
    "tens": "y",  # twenty .. ninety
    "scale": "h",  # hundred, thousand
    "figures": "n",  # 1984
    "repeat": "m",  # double, triple
    "letter": "l",  # a single letter but o
    "letter-o": "o",  # the letter o, which is often a nought
    "spelling": "b",  # alpha, bravo
    "glued": "x",  # letters glued to figures: b4x
    "as-in": "q",  # "as in boy" after a letter
    "dot": "p",
    "at": "a",
    "underscore": "u",
    "dash": "k",
    "slash": "s",
    "colon": "c",
    "plus": "g",
    "bracket": "r",  # ( ) [ ] #
    "comma": "v",
    "mark": "z",  # any other mark
    "word": "w",
}
GROUPS: Mapping[str, str] = {
    "number": "digit teen tens scale figures repeat",
    "said": "digit teen tens scale figures",  # the numbers themselves
    "letters": "letter letter-o glued",
    "any-letter": "letter letter-o spelling glued",
    "label": "word letter letter-o spelling glued digit teen tens scale figures",  # what a host or handle is made of
    "link": "dot underscore dash",
    "name": "word spelling",  # what can be a name by its form
}
_NAMED = re.compile(r"<([a-z -]+)>")


@cache
def kinds(names: str) -> str:
    """The letters of kinds and groups of kinds, by name."""
    return "".join(dict.fromkeys(letter for name in names.split() for letter in _letters(name)))


def _letters(name: str) -> str:
    return KINDS[name] if name in KINDS else kinds(GROUPS[name])


def sequence(pattern: str) -> re.Pattern[str]:
    """A pattern over an utterance's `kinds`: `<digit teen>` is a token of either kind, blanks mean nothing.

    Raises KeyError for a kind that does not exist.
    """
    return re.compile(_NAMED.sub(lambda match: f"[{kinds(match[1])}]", pattern).replace(" ", ""))
