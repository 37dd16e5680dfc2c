"""Searches that look before they search: what every match must contain is derived from the rule itself.

A rule that runs in vain costs time, a check before it that forgets a form is a leak that nobody sees. So no check is
written by hand: `needed` reads the parsed expression, and whatever it does not understand makes it search always.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from proxid.classify.identifiers.kinds import KINDS
from proxid.classify.identifiers.kinds import kinds as kind_letters
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import Utterance

Literals = frozenset[str]
Find = Callable[[Utterance], Iterable[Span]]
MOST = 64
"""More literals than that are not worth looking for one by one."""


def needed(pattern: str) -> Literals:
    """Literals of which every match of an expression contains one; none where nothing of the kind is sure."""
    found = _of_sequence(parser.parse(pattern))
    return found if found and len(found) <= MOST else frozenset()


def _of_sequence(items: Iterable[Any]) -> Literals:
    """The best of what the parts of a sequence need: what is rarest in a text."""
    parts: list[Literals] = []
    run = ""
    for code, value in items:
        if code is op.LITERAL:
            run += chr(value)
            continue
        parts, run = [*parts, frozenset({run} - {""})], ""
        parts.append(_of_part(code, value))
    parts.append(frozenset({run} - {""}))
    sure = [part for part in parts if part]
    return min(sure, key=lambda part: sum(map(_common, part)), default=frozenset())


def _common(literal: str) -> float:
    """About how often a literal occurs in a text of a few words: letters are common, marks and figures rare."""
    return math.prod(0.9 if char == " " else 0.3 if char.isalpha() else 0.05 for char in literal)


def _of_part(code: Any, value: Any) -> Literals:
    if code in (op.SUBPATTERN, op.ASSERT):
        return _of_sequence(value[-1])
    if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT) and value[0] > 0:
        return _of_sequence(value[2])
    if code is op.BRANCH:
        branches = [_of_sequence(branch) for branch in value[1]]
        return frozenset[str]().union(*branches) if all(branches) else frozenset()
    if code is op.IN and all(kind is op.LITERAL for kind, _ in value):
        return frozenset(chr(letter) for _, letter in value)
    return frozenset()


class Search:
    """A regular expression over a folded text, tried where something it needs is there."""

    __slots__ = ("needs", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = re.compile(pattern)
        self.needs = tuple(sorted(needed(pattern)))

    def possible(self, text: str) -> bool:
        """Whether a match is not excluded."""
        return not self.needs or any(map(text.__contains__, self.needs))

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Every match, left to right."""
        return self.pattern.finditer(text) if self.possible(text) else iter(())


class Rule:
    """A detector of identifiers, and the words and kinds of tokens of which an utterance has one if it can find anything."""

    __slots__ = ("find", "kinds", "words")

    def __init__(self, find: Find, words: frozenset[str], kinds: frozenset[str]) -> None:
        self.find, self.words, self.kinds = find, words, kinds

    def possible(self, u: Utterance) -> bool:
        """Whether it may find something; a rule that names no need may always."""
        return not (self.words.isdisjoint(u.bag) and self.kinds.isdisjoint(u.kinds))

    def __call__(self, u: Utterance) -> Iterable[Span]:
        """What it finds; not asked where it could find nothing."""
        return () if self.words.isdisjoint(u.bag) and self.kinds.isdisjoint(u.kinds) else self.find(u)


def asked(rules: Sequence[Rule], u: Utterance) -> Sequence[Rule]:
    """The rules whose needs are met; where nothing that any of them needs is there, those that need nothing."""
    words, kinds, always = _needs(tuple(rules))
    return always if words.isdisjoint(u.bag) and kinds.isdisjoint(u.kinds) else rules


@cache
def _needs(rules: tuple[Rule, ...]) -> tuple[frozenset[str], frozenset[str], tuple[Rule, ...]]:
    some = [rule for rule in rules if len(rule.kinds) < len(KINDS)]
    words = frozenset[str]().union(*(rule.words for rule in some))
    kinds = frozenset[str]().union(*(rule.kinds for rule in some))
    return words, kinds, tuple(rule for rule in rules if rule not in some)


def rule(words: frozenset[str] = frozenset(), kinds: str = "") -> Callable[[Find], Rule]:
    """Make a detector a rule that is asked only where one of the words or of the kinds (names, see kinds.py) is."""
    letters = kind_letters(kinds) if kinds or words else "".join(KINDS.values())
    return lambda find: Rule(find, words, frozenset(letters))
