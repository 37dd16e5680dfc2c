"""The tagger's weights, ordered by the word that a feature is about: a token costs a dozen small look-ups.

`Weights.score` is the sum of the weights of `tagger.token_features`, up to the order of the additions.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

EDGE = "·"
REMEMBERED = 16_384
"""Sums of features of grades and shapes that are kept; neither says which word it is of."""
_Part = dict[str, float]


class _Word(NamedTuple):
    """What a word adds itself, and by the word before and after it."""

    own: float
    before: _Part
    after: _Part


class _Left(NamedTuple):
    """What a word adds to the token after it: by the word before it, the one after, the grade, its end, the tag."""

    own: float
    before: _Part
    after: _Part
    grades: _Part
    ends: _Part
    tags: _Part


class _Right(NamedTuple):
    """What a word adds to the token before it: by the word after it, and the token's grade."""

    own: float
    after: _Part
    grades: _Part


class Weights:
    """Weights of features by name, ordered."""

    def __init__(self, weights: dict[str, float]) -> None:
        self._get = weights.get
        parts: dict[str, dict[str, _Part]] = {}
        for feature, weight in weights.items():
            found = _parted(feature)
            if found is not None:
                kind, word, other = found
                parts.setdefault(kind, {}).setdefault(word, {})[other] = weight
        self._words = _tables(parts, _Word, "w", ("w ", "x "))
        self._lefts = _tables(parts, _Left, "p", ("pp", "pn", "pg", "c", "tp"))
        self._rights = _tables(parts, _Right, "n", ("nn", "gn"))
        self._sums: dict[tuple[str, ...], float] = {}

    def score(self, words: Sequence[str], grades: Sequence[str], shapes: Sequence[str], i: int, before: bool) -> float:
        """Sum of the weights of token `i`; `before` says whether the token before it was tagged a name."""
        get, n = self._get, len(words)
        w, g = words[i], grades[i]
        p1, pg, ps = (words[i - 1], grades[i - 1], shapes[i - 1]) if i else (EDGE, EDGE, EDGE)
        n1, ng, ns = (words[i + 1], grades[i + 1], shapes[i + 1]) if i + 1 < n else (EDGE, EDGE, EDGE)
        p2 = words[i - 2] if i > 1 else EDGE
        n2 = words[i + 2] if i + 2 < n else EDGE
        tag = "T" if before else "F"
        key = (tag, pg, g, ng, ps, shapes[i], ns)
        total = self._sums.get(key)
        if total is None:
            total = self._of_grades(*key)
        total += get("q" + p2, 0.0) + get("r" + n2, 0.0) + get(f"e{w[-3:]}{g[:1]}", 0.0) + get(f"b{w[:3]}{g[:1]}", 0.0)
        word, left, right = self._words.get(w), self._lefts.get(p1), self._rights.get(n1)
        if word is not None:
            total += word.own + word.before.get(p1, 0.0) + word.after.get(n1, 0.0)
        if left is not None:
            own, by_before, by_after, by_grade, by_end, by_tag = left
            total += own + by_before.get(p2, 0.0) + by_after.get(n1, 0.0)
            total += by_grade.get(g, 0.0) + by_end.get(g[2:], 0.0) + by_tag.get(tag, 0.0)
        if right is not None:
            total += right.own + right.after.get(n2, 0.0) + right.grades.get(g, 0.0)
        return total

    def _of_grades(self, tag: str, pg: str, g: str, ng: str, ps: str, s: str, ns: str) -> float:
        features = (
            "g" + g, "a" + g[:3], "k" + g[2:], f"t{tag}{g}", f"G{pg} {g}", f"N{g} {ng}", f"s{s}", f"S{ps}{s}{ns}", f"sg{s}{g}",
            f"H{tag}{pg}{g}{ng}",
        )  # fmt: skip
        total = sum(self._get(feature, 0.0) for feature in features)
        if len(self._sums) >= REMEMBERED:
            self._sums.clear()
        self._sums[tag, pg, g, ng, ps, s, ns] = total
        return total


def _parted(feature: str) -> tuple[str, str, str] | None:
    """Kind, word and other part of a feature of a word of its own or a pair; None for the others."""
    first, space, second = feature.partition(" ")
    kind = feature[:2]
    if not space:
        if kind == "tp":
            return kind, feature[3:], feature[2]
        if feature[0] == "c":
            return "c", feature[3:], feature[1:3]
        return (feature[0], feature[1:], "") if feature[0] in "wpn" else None
    if kind in ("pp", "gn"):
        return kind, second, first[2:]
    if kind in ("nn", "pn", "pg"):
        return kind, first[2:], second
    return (feature[0] + " ", first[1:], second) if feature[0] in "wx" else None


_Row = TypeVar("_Row")


def _tables(
    parts: dict[str, dict[str, _Part]], row: Callable[..., _Row], own: str, others: tuple[str, ...]
) -> dict[str, _Row]:
    tables = [parts.get(kind, {}) for kind in others]
    nothing: _Part = {}
    return {
        word: row(parts.get(own, {}).get(word, nothing).get("", 0.0), *(table.get(word, nothing) for table in tables))
        for word in {word for table in (parts.get(own, {}), *tables) for word in table}
    }
