"""Figures that say how well a classifier does: accuracy, F1, marked spans covered, and their intervals."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt

_MARK = re.compile(r"\[([A-Z~]+):([^\]]*)\]")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
NEUTRAL = "~"
"""Kind of a mark whose words count neither for nor against."""


def wilson(hits: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a proportion, 95 % by default."""
    if total == 0:
        return 0.0, 1.0
    share, square = hits / total, z * z
    middle = (share + square / (2 * total)) / (1 + square / total)
    half = z * sqrt(share * (1 - share) / total + square / (4 * total * total)) / (1 + square / total)
    return max(0.0, middle - half), min(1.0, middle + half)


def accuracy(truth: Sequence[str], guess: Sequence[str]) -> float:
    """Share of equal pairs."""
    return sum(t == g for t, g in zip(truth, guess, strict=True)) / max(len(truth), 1)


def macro_f1(truth: Sequence[str], guess: Sequence[str]) -> float:
    """Mean of the classes' F1."""
    scores = []
    for name in sorted(set(truth)):
        both = sum(t == g == name for t, g in zip(truth, guess, strict=True))
        scores.append(2 * both / max(truth.count(name) + guess.count(name), 1))
    return sum(scores) / max(len(scores), 1)


def parse(line: str) -> tuple[str, list[tuple[int, int, str]]]:
    """A marked line as its text and (start, end, kind) of the marks."""
    text, marks, end = "", [], 0
    for match in _MARK.finditer(line):
        text += line[end : match.start()]
        marks.append((len(text), len(text) + len(match[2]), match[1]))
        text += match[2]
        end = match.end()
    return text + line[end:], marks


@dataclass(slots=True)
class SpanScore:
    """Counts over marked utterances; `leaks` lists the lines with an unmasked identifier word."""

    utterances: int = 0
    clean: int = 0
    wanted: int = 0
    found: int = 0
    masked: int = 0
    other_spans: int = 0
    other_masked: int = 0
    leaks: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, line: str, spans: Iterable[tuple[int, int]]) -> None:
        """Compare the masked spans of one marked line with its marks."""
        text, marks = parse(line)
        covered = list(spans)
        leaked = []
        for start, end, kind in marks:
            if kind == NEUTRAL:
                continue
            words = [m.span() for m in _WORD.finditer(text, start, end)]
            open_words = [w for w in words if not _inside(w, covered)]
            self.wanted += len(words)
            self.found += len(words) - len(open_words)
            if kind != "NAME":
                self.other_spans += 1
                self.other_masked += not open_words
            leaked += [(kind, text[start:end], text)] if open_words else []
        if any(kind != NEUTRAL for _, _, kind in marks):
            self.utterances += 1
            self.clean += not leaked
        self.leaks += leaked
        self.masked += self._masked_words(text, marks, covered)

    @staticmethod
    def _masked_words(text: str, marks: list[tuple[int, int, str]], covered: list[tuple[int, int]]) -> int:
        neutral = [(s, e) for s, e, kind in marks if kind == NEUTRAL]
        words = [m.span() for m in _WORD.finditer(text)]
        return sum(_inside(w, covered) and not _inside(w, neutral) for w in words)

    @property
    def recall(self) -> float:
        """Share of identifier words that are masked."""
        return self.found / max(self.wanted, 1)

    @property
    def precision(self) -> float:
        """Share of masked words that are identifiers."""
        return self.found / max(self.masked, 1)


def _inside(word: tuple[int, int], spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= word[0] and word[1] <= end for start, end in spans)
