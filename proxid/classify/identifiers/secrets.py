"""What only its owner should know: passwords and code words, seed phrases, wallets and keys, codes that open a door.

A value made of words has no form of its own, so it is everything after (or before) what names it, up to the end of the
sentence: too much is masked rather than too little. Words that say something about the secret ("the password is wrong")
are in data/rules/secrets.toml.
"""

import re
from collections.abc import Iterator

from proxid.classify.identifiers.digit_runs import Run, measure, runs
from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.searches import Search, rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import phrases, words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon
from proxid.classify.text import words_of


def _either(key: str) -> str:
    return "|".join(sorted(phrases("secrets", key), key=len, reverse=True))


_NAMED = rf"\b(?:{_either('secrets')})(?!\w)"
_OWNED = r"(?: (?:for|of|to|on|at|in) (?:(?!is\b|was\b)[\w'-]+ ?){1,4}?| of (?:mine|ours))?"
_VALUE_AFTER = Search(
    rf"{_NAMED}{_OWNED} ?(?:{_either('links')})(?: now)? *[:\"']? *(?=\S)|(?:{_NAMED}|\bpass|\bpw) ?[:=] ?(?=\S)"
)
_VALUE_SET = Search(
    rf"\b(?:{_either('changes')}) (?:[\w'-]+ ){{0,4}}?(?:{_either('secrets')})(?: (?:for|of|on) (?:[\w'-]+ ){{1,3}}?| )(?:to|as) (?=\S)"
)
_VALUE_USED = Search(
    rf"\b(?:{_either('uses')}) (?:the |my |our |this |a )?(?:[\w'-]+ ){{0,2}}?(?:{_either('secrets')}) (?=\S)"
)
_FUNCTION = rf"(?:{'|'.join(sorted(lexicon('stopwords')))})\b"
_VALUE_BEFORE = Search(
    rf"(?: is|'s| was| as| for) (?:my|our|the|his|her|their|your)(?: [\w'-]+){{0,2}}? (?:{_either('secrets')})(?!\w)"
)
_VALUE_BARE = Search(
    rf"\b(?:seed|recovery|backup|mnemonic|wallet) (?:phrase|words) ((?:(?!{_FUNCTION})[a-z]+(?: |$)){{4,24}})"
)
_END = re.compile(r"[;?!]|\.(?!\S)|, ")
_TOKENS = Search(r"(?<![\w.@/-])(?=[a-z+/=_-]*\d)(?=[\d+/=_-]*[a-z])[a-z0-9]{12}[a-z0-9+/=_-]{8,}(?![\w@])")
_ACCOUNTS = Search(r"\b(?:0x[0-9a-f]{20,}|bc1[a-z0-9]{20,}|[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,4})?)\b")
_WORDS_AFTER = re.compile(r"(?: [a-z]+)+$")
"""No number of a bank ends so: "… never arrived"."""
_ENDS_IN = Search(
    r"\b(?:ends?|ending) (?:up )?(?:in|with|on)? ?(?:the |a )?(?=\S)|\b(?:first|last|the) (?:two|three|four|five|six|\d) ?(?:digits?|numbers?|letters?)?(?:(?: o[fn] [\w' ]{1,40}?)?(?: is| are|:)|) (?=\S)"
)
_NO_VALUES, _COMPOUNDS, _ENDS = words("secrets", "no_values"), words("secrets", "compounds"), words("secrets", "ends")
_OPENED, _OPENING, _TIMED = words("secrets", "opened"), words("secrets", "opening"), words("secrets", "timed")
_NUMBERED = words("secrets", "numbered")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
LONGEST, LONGEST_PHRASE = 8, 25
"""Tokens of a value that is made of words; of a seed phrase, which has up to 24."""


@rule(words=frozenset(words_of(phrase)[0] for phrase in phrases("secrets", "secrets")) | {"pass", "pw"})
def told(u: Utterance) -> Iterator[Span]:
    """Values that are made of words, after or before what names them."""
    text = u.clean.folded
    for search in (_VALUE_AFTER, _VALUE_SET):
        for match in search.matches(text):
            yield from _after(u, match, _NO_VALUES)
    for match in _VALUE_USED.matches(text):
        yield from _after(u, match, _NO_VALUES | _COMPOUNDS)
    for match in _VALUE_BARE.matches(text):
        yield Span(*u.span(u.after(match.start(1)), u.after(match.end(1)) - 1), "ID", "secret")
    for match in _VALUE_BEFORE.matches(text):
        yield from _before(u, match)


def _after(u: Utterance, match: re.Match[str], never: frozenset[str]) -> Iterator[Span]:
    first = u.after(match.end())
    while u.word(first) in ('"', "'", ":", "="):
        first += 1
    written = match[0].rstrip().endswith((":", "="))
    if first == len(u.words) or (u.words[first] in never and not written and _says_something(u, first + 1)):
        return
    end = _END.search(u.clean.folded, u.tokens[first].start)
    stop = end.start() if end else len(u.clean.folded)
    longest = LONGEST_PHRASE if re.search("phrase|words|mnemonic", match[0]) else LONGEST
    last = first
    while (
        last + 1 < min(len(u.words), first + longest)
        and u.tokens[last + 1].start < stop
        and u.words[last + 1] not in _ENDS
    ):
        last += 1
    yield Span(*u.span(first, last), "ID", "secret")


def _says_something(u: Utterance, index: int) -> bool:
    """Whether a sentence about the secret goes on: "wrong again", "not working"; "correct horse" is a value."""
    word = u.word(index)
    return not word[:1].isalpha() or word in lexicon("stopwords") or word in _NO_VALUES or word in _COMPOUNDS


def _before(u: Utterance, match: re.Match[str]) -> Iterator[Span]:
    """ "sunflower is my password", "use hunter2 as the password": the words of the sentence before."""
    last = u.after(match.start()) - 1
    if last < 0:
        return
    marks = [mark.end() for mark in _END.finditer(u.clean.folded, 0, u.tokens[last].end)]
    first = max(u.after(marks[-1]) if marks else 0, last - LONGEST + 1)
    while first <= last and u.words[first] in _COMMON:
        first += 1
    if first <= last and u.words[last] not in _COMMON:
        yield Span(*u.span(first, last), "ID", "secret")


_COMMON = lexicon("stopwords") | words("secrets", "uses") | words("secrets", "changes") | words("names", "questions")


@rule(kinds="figures glued")
def tokens(u: Utterance) -> Iterator[Span]:
    """Wallets, bank accounts, keys: long strings of letters and figures without a blank."""
    for search in (_ACCOUNTS, _TOKENS):
        for match in search.matches(u.clean.folded):
            yield Span(match.start(), match.start() + len(_WORDS_AFTER.sub("", match[0])), "ACCOUNT", "token")


@rule(kinds="number")
def opens(u: Utterance) -> Iterator[Span]:
    """ "seven seven one two opens the gate": a few digits where a text speaks of a lock and of opening it."""
    if _OPENED.isdisjoint(u.bag):
        return
    opening = not _OPENING.isdisjoint(u.bag)
    for run in runs(u):
        if 3 <= run.digits <= 8 and (opening or run.singles >= 4) and not _quantity(u, run):
            yield Span(*u.span(run.first, run.last), "ID", "opens")


def _quantity(u: Utterance, run: Run) -> bool:
    """A time, an amount or a house number: not told digit by digit, or with a word before or after it that says so."""
    before, after = u.word(run.first - 1), u.word(run.last + 1)
    if (
        after in lexicon("units")
        or before in lexicon("months")
        or after in lexicon("street_types") | words("addresses", "sure_types")
    ):
        return True
    return before in _TIMED and (run.digits < 4 or kinds("colon") in u.codes[run.first : run.last + 2])


@rule(kinds="number")
def last_digits(u: Utterance) -> Iterator[Span]:
    """ "my card ends in 4242", "the last four digits are nine eight one two"."""
    for said in runs(u) if "last" in u.bag else ():
        after = u.words[said.last + 1 : said.last + 4]
        if said.digits >= 3 and after[:1] in (["are"], ["is"]) and after[1:] in (["the", "last"], ["my", "last"]):
            yield Span(*u.span(said.first, said.last), "ACCOUNT", "last digits")
    for match in _ENDS_IN.matches(u.clean.folded):
        first = u.after(match.end())
        whole = next((run for run in runs(u) if run.first <= first <= run.last), None)
        run = whole and measure(u, first, whole.last)
        if run is None or run.digits < 2 or u.word(run.last + 1) in lexicon("units"):
            continue
        told = match[0].startswith(("first", "last", "the")) and run.digits >= 3
        plain = run.singles >= 3 or told or (not _NUMBERED.isdisjoint(u.bag) and run.codes != kinds("digit"))
        year = run.codes == kinds("figures") and _YEAR.fullmatch(u.words[run.first])
        if plain and (not year or not (_NUMBERED - {"one", "number", "numbers"}).isdisjoint(u.bag)):
            yield Span(*u.span(run.first, run.last), "ACCOUNT", "last digits")
