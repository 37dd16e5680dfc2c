"""All detectors of identifiers together, and the gate behind them.

Fail-closed: the gate looks at the masked text for forms that only identifiers have; if one is left, a detector erred,
and the whole text is withheld.
"""

import re
from collections.abc import Callable, Iterable

from proxid.classify.identifiers import (
    address_parts,
    ages,
    dates,
    digits,
    european,
    handles,
    internet,
    keyed,
    plates,
    postal,
    tagger,
)
from proxid.classify.identifiers.names import names
from proxid.classify.identifiers.spans import Span, mask, merge
from proxid.classify.identifiers.utterance import Utterance

Detector = Callable[[Utterance], Iterable[Span]]
RULES: tuple[Detector, ...] = (
    internet.written, internet.spoken, handles.handles, keyed.announced, plates.plates, digits.long_runs, postal.addresses,
    european.foreign, address_parts.units, address_parts.announced, postal.postal_codes, dates.dates, ages.ages,
)  # fmt: skip
RAISED = 2.5
"""What is added to the tagger's threshold for requests that name nobody."""
WORDY: tuple[Detector, ...] = (handles.handles, postal.addresses, european.foreign, address_parts.announced, ages.ages)
"""The rules that can find something in a text without digits."""
_QUESTIONS = frozenset(
    "what when who whom whose how which where why did does do was were is are will can could tell define name".split()
)
_QUIET = frozenset("wlobzvqgmkc")
"""Letters of utterances in which no rule but the names' can find anything."""
_DIGITS = "zero oh one two three four five six seven eight nine 0 1 2 3 4 5 6 7 8 9".split()
_DIGIT = f"(?:{'|'.join(_DIGITS)})"
_LEFT = re.compile(
    rf"[a-z0-9]@[a-z0-9]|\b(?:dot|\.) ?(?:com|org|net|edu|gov)\b|\b\d{{3}}-\d{{2}}-\d{{4}}\b|(?:\b{_DIGIT}\b[ -]?){{7}}|://"
)
_ANY_DIGIT = frozenset(_DIGITS)
_MARKS = ("@", ".", "dot", "://", "-")


class Redactor:
    """Finds identifiers; `keep` holds the full names of public figures that are left standing, if any."""

    def __init__(self, tags: tagger.Tagger, keep: frozenset[str] = frozenset()) -> None:
        self.tags, self.keep = tags, keep

    def spans(self, u: Utterance, nameless: bool = False) -> list[Span]:
        """Merged spans of every identifier in an utterance (see `complete`)."""
        return self.complete(u, self.rules(u), nameless)

    def rules(self, u: Utterance) -> list[Span]:
        """Merged spans of the identifiers that have a form or a keyword of their own."""
        quiet = _QUIET.issuperset(u.codes) and u.codes.count("l") <= 2
        return merge(span for rule in (WORDY if quiet else RULES) for span in rule(u))

    def complete(self, u: Utterance, found: list[Span], nameless: bool = False) -> list[Span]:
        """Add names, and the dates that a name makes personal.

        `nameless`: the request is of a kind in which hardly anybody is named (a recipe, a conversion, the weather), so
        that a name has to be plain to count as one.
        """
        people = names(u, self.tags, RAISED if nameless else 0.0)
        if not nameless and (people or u.words[0] not in _QUESTIONS):
            found = [*found, *dates.full(u)]
        return merge([*found, *people, *address_parts.streets(u, people)])

    def masked(self, u: Utterance, spans: list[Span]) -> str | None:
        """The text with slots, None when something identifying seems left."""
        text = mask(u.clean.shown, (span for span in spans if not self._public(u, span)))
        return None if _left(text.lower()) else text

    def _public(self, u: Utterance, span: Span) -> bool:
        return bool(self.keep) and span.kind == "NAME" and u.clean.folded[span.start : span.end] in self.keep


def _left(text: str) -> bool:
    """Whether `_LEFT` is found: a text with no mark that it needs, and too few digits for a run, is not searched."""
    if not any(mark in text for mark in _MARKS):
        inner = text.replace("-", " ").split(" ")  # of a run's seven digits, five have a space or dash on both sides
        if sum(map(_ANY_DIGIT.__contains__, inner)) < 5:
            return False
    return _LEFT.search(text) is not None
