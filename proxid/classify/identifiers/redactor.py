"""All detectors of identifiers together, and the gate behind them.

Fail-closed: the gate looks at the masked text for forms that only identifiers have; if one is left, a detector erred,
and the whole text is withheld.
"""

import re

from proxid.classify.identifiers import (
    address_parts,
    addresses,
    ages,
    announced_codes,
    dates,
    digit_runs,
    foreign_streets,
    handles,
    internet,
    plates,
    secrets,
    spelled_names,
    tagger,
    works,
)
from proxid.classify.identifiers.digit_runs import LONG, everybodys
from proxid.classify.identifiers.names import names
from proxid.classify.identifiers.numbers import DIGIT, DIGITS
from proxid.classify.identifiers.searches import Rule, Search, asked
from proxid.classify.identifiers.spans import Span, mask, merge
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import Utterance

RULES: tuple[Rule, ...] = (
    internet.written, internet.spoken, handles.handles, announced_codes.announced, secrets.told, secrets.tokens,
    spelled_names.spelled, secrets.opens, secrets.last_digits, plates.plates, plates.spelled, digit_runs.long_runs,
    addresses.addresses, foreign_streets.foreign, address_parts.units, address_parts.announced, addresses.postal_codes,
    dates.dates, ages.ages,
)  # fmt: skip
NAMELESS, NAMING = 5.0, -0.4
"""What is added to the tagger's threshold for requests that name nobody, and for the others (docs/models.md)."""
_QUESTIONS = words("names", "questions")
_LEFT = Search(r"[a-z0-9]@[a-z0-9]|\b(?:dot|\.) ?(?:com|org|net|edu|gov)\b|\b\d{3}-\d{2}-\d{4}\b|://")
_RUN = re.compile(rf"(?:\b(?:{DIGIT}|\d)\b[ -]?){{{LONG},}}")
"""Forms that only identifiers have."""
_ANY_DIGIT = frozenset(DIGITS) | frozenset("0123456789")


class Redactor:
    """Finds identifiers; `keep` holds the full names of public figures that are left standing, if any."""

    def __init__(self, tags: tagger.Tagger, keep: frozenset[str] = frozenset()) -> None:
        self.tags, self.keep = tags, keep

    def spans(self, u: Utterance, nameless: bool = False) -> list[Span]:
        """Merged spans of every identifier in an utterance (see `complete`)."""
        return self.complete(u, self.rules(u), nameless)

    def rules(self, u: Utterance) -> list[Span]:
        """Merged spans of the identifiers that have a form or a keyword of their own."""
        return merge(span for rule in asked(RULES, u) for span in rule(u))

    def complete(self, u: Utterance, found: list[Span], nameless: bool = False) -> list[Span]:
        """Add names, and the dates that a name makes personal.

        `nameless`: the request is of a kind in which hardly anybody is named (a recipe, a conversion, the weather), so
        that a name has to be plain to count as one.
        """
        people = works.without(names(u, self.tags, NAMELESS if nameless else NAMING), works.titles(u))
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
    """Whether something of `_LEFT` or a `_RUN` is there."""
    if any(_LEFT.matches(text)):
        return True
    inner = text.replace("-", " ").split(" ")  # of a run's digits, all but two have a blank or dash on both sides
    enough = sum(map(_ANY_DIGIT.__contains__, inner)) >= LONG - 2
    return enough and any(not everybodys(run[0], text) for run in _RUN.finditer(text))
