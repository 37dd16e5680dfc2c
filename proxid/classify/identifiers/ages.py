"""Ages over 89, which HIPAA Safe Harbor counts among the identifiers: said, written, and as birthdays."""

from collections.abc import Iterator

from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.numbers import TEEN, TEN, UNIT, UNIT_ORDINAL
from proxid.classify.identifiers.searches import Search, rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import Utterance

_NINETY = (
    rf"(?:ninety(?:[ -]{UNIT})?|9\d|1[0-3]\d|(?:a|one) hundred(?:(?: and)? (?:{TEN}(?:[ -]{UNIT})?|{TEEN}|{UNIT}))?"
    rf"|one (?:oh {UNIT}|{TEEN}))"
)
_NINETIETH = (
    rf"(?:ninetieth|ninety[ -]{UNIT_ORDINAL}|(?:9\d|1[0-2]\d) ?(?:st|nd|rd|th)|(?:one )?hundredth"
    rf"|(?:a |one )?hundred(?: and)? (?:{UNIT_ORDINAL}|tenth))"
)
_MEASURED = r"(?! ?(?:percent|degrees|miles|minutes|pounds|dollars|days|kilos|feet|hours|%))"
_OLD = Search(
    rf"\b(?P<old>{_NINETY}[ -]?(?:years?|yrs?)?(?:[ -]?(?:olds?|of age)\b|(?<=year)s? young\b|[ -]?y[ /.]?o\b))"
    rf"|\b(?P<birthday>{_NINETIETH}) (?:birthday|bday|b day)\b"
)
_AGE = Search(
    rf"\b(?:aged|age:? (?:is |of |was )?|turn(?:s|ed|ing)?|liv(?:ed|es|e|ing) (?:to be|to|until|till)|(?:died|passed away|passed) at|"
    rf"dead at|reach(?:ed|es|ing)? (?:the age of )?)(?: about| almost| nearly| over)? ?\b(?P<told>{_NINETY})\b{_MEASURED}"
    rf"|\b(?:i am|i'm|you're|you are|we're|we are|they're|they are|(?:he|she|who)(?: is| ?'s)|(?:mother|father|grandma|grandpa) is)"
    rf"(?: about| almost| nearly| now| already| over)? (?P<being>{_NINETY})\b{_MEASURED}"
)
_SUBJECTS, _IS, _BEFORE_BE = words("ages", "subjects"), words("ages", "forms_of_be"), words("ages", "before_be")
_AFTER = words("ages", "quantities")
_NUMBERS, _SMALL = frozenset(kinds("said")), kinds("digit teen tens")


@rule(words=frozenset({"birthday", "bday", "b"}), kinds="said")
def ages(u: Utterance) -> Iterator[Span]:
    """Ages over 89."""
    if not _NUMBERS.isdisjoint(u.kinds):
        yield from _told(u)
    for search in (_OLD, _AGE):
        for match in search.matches(u.clean.folded):
            yield Span(*match.span(str(match.lastgroup)), "AGE", "over 89")


def _told(u: Utterance) -> Iterator[Span]:
    """ "my grandfather is 97", "maria turned ninety four", "my dad (94)": the number after a person and a form of "be"."""
    for i, word in enumerate(u.words[:-1]):
        closed = u.word(i + 2) in (",", ")") and u.codes[i + 1] == kinds("figures") and _ninety(u, i + 1) is not None
        if closed and (word == "," or (word == "(" and i and _person(u.words[i - 1]))):
            yield Span(*u.span(i + 1, i + 1), "AGE", "over 89")
        if word in _IS and i and _subject(u, i):
            last = _ninety(u, i + 1)
            if last is not None and u.word(last + 1) not in _AFTER:
                yield Span(*u.span(i + 1, last), "AGE", "over 89")


def _subject(u: Utterance, index: int) -> bool:
    """Whether a form of "be" at `index` has a person before it: at once, or a few words before "will be"."""
    if u.words[index] == "be":
        return u.words[index - 1] in _BEFORE_BE and any(map(_person, u.words[max(index - 4, 0) : index]))
    return _person(u.words[index - 1])


def _person(word: str) -> bool:
    g = load_gazetteer().get(word)
    return (
        word in _SUBJECTS
        or word in ("i'll", "he'll", "she'll")
        or bool(g and max(g.given, g.surname) >= 2 and g.common <= 3)
    )


def _ninety(u: Utterance, index: int) -> int | None:
    """Last token of a number from 90 to 129 that begins at `index`."""
    word = u.words[index]
    if word == "ninety":
        dashed = index + 1 + (u.word(index + 1) == "-")
        return dashed if u.codes[dashed : dashed + 1] == kinds("digit") else index
    if word.isdigit() and 90 <= int(word[:4]) < 130:
        return index
    if word in ("a", "one") and u.word(index + 1) == "hundred":
        rest = index + 2 + (u.word(index + 2) == "and")
        return rest if u.codes[rest : rest + 1] in (*_SMALL,) else index + 1
    return (
        index + 2
        if word == "one" and u.word(index + 1) == "oh" and u.codes[index + 2 : index + 3] == kinds("digit")
        else None
    )
