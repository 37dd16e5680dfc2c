"""The grammar of spoken numbers: which words are numbers, and pieces of regular expressions that hear them.

Everything that hears a number (runs of digits, dates, ages, handles, times of the day) is made of these pieces; the words
are in data/rules/numbers.toml.
"""

from collections.abc import Iterable, Mapping

from proxid.classify.identifiers.tables import table


def _numbers(key: str) -> Mapping[str, int]:
    found: Mapping[str, int] = table("numbers")[key]
    return found


DIGITS, TEENS, TENS, SCALES = _numbers("digits"), _numbers("teens"), _numbers("tens"), _numbers("scales")
REPEATS = _numbers("repeats")


def either(words: Iterable[str]) -> str:
    """A group that matches any of the words."""
    return f"(?:{'|'.join(words)})"


NOUGHTS = either(word for word, value in DIGITS.items() if value == 0)
DIGIT = either(DIGITS)
"""A single digit, nought among them."""
UNIT = either(word for word, value in DIGITS.items() if value > 0 and word != "niner")
TEEN, TEN = either(TEENS), either(word for word in TENS if word != "fourty")
UNDER_100 = f"(?:{TEN}(?:[ -]{UNIT})?|{TEEN}|{UNIT})"
"""One to ninety nine."""
UNIT_ORDINAL = either(_numbers("ordinals"))
ORDINALS = frozenset(word for key in ("ordinals", "ordinal_teens", "ordinal_tens") for word in _numbers(key))
DAY_ORDINAL = either(
    [f"(?:(?:twenty|thirty)[ -])?{UNIT_ORDINAL}", *_numbers("ordinal_teens"), *_numbers("ordinal_tens")]
)
"""First to thirty ninth: the days of a month."""
