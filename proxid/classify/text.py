"""Cleaning of an utterance before anything looks at it, and its tokens (DESIGN 6, fail-closed).

An attacker, or a careless keyboard, can hide an identifier behind zero-width characters, look-alike letters,
full-width digits or direction marks. All of them are undone here once, so that every later stage sees plain
letters: `shown` keeps the writer's letters, `folded` is its lower-case ASCII shadow of the same length.
"""

import re
import unicodedata
from typing import NamedTuple

MAX_CHARS = 4000
"""Longer texts are withheld: no request of a person is that long, and its time would not be bounded."""

_LOOKALIKES = {
    "cyrillic": ("авсԁеһіјӏмнкорԛѕтуԝхѵАВСЕНІЈКМОРЅТУХҮԜԚ", "abcdehijlmhkopqstywxvABCEHIJKMOPSTYXYWQ"),
    "greek": ("αβγεηικνορτυχωϲΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "abyenikvoptuxwcABEZHIKMNOPTYX"),
    "latin": ("ıɡɑʟɪɴʀʏøłđħŧßæœðþØŁĐ", "igalinryoldhtsaodpOLD"),
}
UNREAD = "\ufffd"
"""Stands for what was not read: bytes that are no text, and in folded texts letters that no Latin one stands for."""
LONG_NUMBER = 7
_UNREAD_PART = re.compile(rf"\w{UNREAD}|{UNREAD}\w")
"""Part of a word or number is missing; a mark that was not read hides nothing."""
_DRAWN = re.compile("(?:.* LATIN (?:CAPITAL|SMALL) LETTER|REGIONAL INDICATOR SYMBOL LETTER) ([A-Z])")
_BRAILLE = frozenset(map(chr, range(0x2801, 0x2900)))
_SYMBOLS_BETWEEN_DIGITS = re.compile(r"(?<=[0-9])\s*(?:[^\x00-\x7f\w\s×÷°]\s*)+(?=[0-9])")
_MARKS = re.compile(r"[*|~^]")
_MARKS_BETWEEN_DIGITS = re.compile(r"(?<![0-9])[0-9]+(?:[*|~^][0-9]+){2,}")
_TOKEN = re.compile(r"[a-z]+(?:'(?!s\b)[a-z]+)?|'s\b|[0-9]+|\S")
_SPACES = re.compile(r"\s+")


def _confusables() -> dict[int, str]:
    table: dict[int, str] = {}
    for odd, plain in _LOOKALIKES.values():
        table.update({ord(o): p for o, p in zip(odd, plain, strict=True)})
    table.update(dict.fromkeys(map(ord, "‘’ʼ`´＇"), "'"))
    table.update(dict.fromkeys(map(ord, "“”„«»"), '"'))
    table.update(dict.fromkeys(map(ord, "‐‑‒–—―−﹣"), "-"))
    table.update(dict.fromkeys(map(ord, "․。｡"), "."))
    return table


_CONFUSABLES = _confusables()


class Token(NamedTuple):
    """A word, a run of digits or one mark, with its place in the cleaned text."""

    text: str
    start: int
    end: int


class Clean(NamedTuple):
    """A cleaned text: `shown` as written, `folded` lower-case ASCII of the same length."""

    shown: str
    folded: str
    foreign: int
    """Characters that no Latin letter stands for: the text is not English."""


def clean(text: str) -> Clean | None:
    """Undo what hides letters; None when it is empty, too long to process, or has a word that was not read whole."""
    if len(text) > MAX_CHARS or (UNREAD in text and _UNREAD_PART.search(text)):
        return None
    if not text.isascii():
        text = _SYMBOLS_BETWEEN_DIGITS.sub("-", _plain(text))
    text = _MARKS_BETWEEN_DIGITS.sub(_hyphens, text)
    shown = _SPACES.sub(" ", _strip_controls(text)).strip()
    if not shown:
        return None
    if shown.isascii():
        return Clean(shown, shown.lower(), 0)
    folded = "".join(map(_fold, shown))
    return Clean(shown, folded, folded.count(UNREAD))


def tokenise(folded: str) -> list[Token]:
    """The tokens of a folded text, left to right."""
    return [Token(m[0], m.start(), m.end()) for m in _TOKEN.finditer(folded)]


def words_of(folded: str) -> list[str]:
    """The tokens' texts."""
    found: list[str] = _TOKEN.findall(folded)
    return found


def _strip_controls(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else (" " if c.isspace() else "") for c in text)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    text = "".join(map(_unhidden, text))
    return unicodedata.normalize("NFC", text.translate(_CONFUSABLES))


def _unhidden(char: str) -> str:
    """The character, nothing for one that shows nothing, the letter or digit that a symbol draws."""
    if char.isascii():
        return char
    category = unicodedata.category(char)
    if category in {"Cf", "Mn", "Me", "Cn", "Co", "Cs"}:
        return ""
    if category not in {"So", "No"}:
        return char
    digit, drawn = unicodedata.digit(char, None), _DRAWN.fullmatch(unicodedata.name(char, ""))
    return str(digit) if digit is not None else drawn[1] if drawn else char


def _hyphens(run: re.Match[str]) -> str:
    """A long number whose groups are held apart by odd marks; a short one may be a sum."""
    return _MARKS.sub("-", run[0]) if sum(map(str.isdigit, run[0])) >= LONG_NUMBER else run[0]


def _fold(char: str) -> str:
    """The lower-case ASCII letter or digit that stands for a character, UNREAD for a foreign letter."""
    if char.isascii():
        return char.lower()
    base = unicodedata.normalize("NFKD", char)[0].translate(_CONFUSABLES)
    if base.isascii():
        return base.lower()
    if base.isdecimal():
        return str(unicodedata.decimal(base))
    return UNREAD if base.isalpha() or base in _BRAILLE else " " if base.isspace() else "*"
