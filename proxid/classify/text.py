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
    """Letters that no Latin letter stands for: the text is not English."""


def clean(text: str) -> Clean | None:
    """Undo what hides letters; None when the text is empty or too long to be processed."""
    if len(text) > MAX_CHARS:
        return None
    if not text.isascii():
        text = _plain(text)
    shown = _SPACES.sub(" ", _strip_controls(text)).strip()
    if not shown:
        return None
    if shown.isascii():
        return Clean(shown, shown.lower(), 0)
    folded = "".join(map(_fold, shown))
    return Clean(shown, folded, folded.count("\ufffd"))


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
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Mn", "Me", "Cn", "Co", "Cs"))
    return unicodedata.normalize("NFC", text.translate(_CONFUSABLES))


def _fold(char: str) -> str:
    """The lower-case ASCII letter or digit that stands for a character, U+FFFD for a foreign letter."""
    if char.isascii():
        return char.lower()
    base = unicodedata.normalize("NFKD", char)[0].translate(_CONFUSABLES)
    if base.isascii():
        return base.lower()
    if base.isdecimal():
        return str(unicodedata.decimal(base))
    return "\ufffd" if base.isalpha() else " " if base.isspace() else "*"
