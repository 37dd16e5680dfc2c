"""Conversions of units: "how many feet in a mile", "convert ten pounds to kilograms", "72 fahrenheit in celsius"."""

import re

from main_service.responder.base import Context
from main_service.responder.numbers import parse, show

_SIZES: dict[str, dict[str, float]] = {
    "length": {"meter": 1, "kilometer": 1000, "centimeter": 0.01, "millimeter": 0.001, "mile": 1609.344,
               "yard": 0.9144, "foot": 0.3048, "inch": 0.0254},
    "mass": {"gram": 1, "kilogram": 1000, "milligram": 0.001, "pound": 453.59237, "ounce": 28.349523125,
             "ton": 1_000_000, "stone": 6350.29318},
    "volume": {"liter": 1, "milliliter": 0.001, "gallon": 3.785411784, "quart": 0.946352946, "pint": 0.473176473,
               "cup": 0.2365882365, "tablespoon": 0.01478676478125, "teaspoon": 0.00492892159375},
    "time": {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800},
}  # fmt: skip
_PLURALS = {
    "feet": "foot",
    "inches": "inch",
    "metres": "meter",
    "metre": "meter",
    "litres": "liter",
    "kilos": "kilogram",
}
_MANY = re.compile(r"\bhow many (\w+) (?:are )?(?:there )?(?:in|is|make) (?:an? )?(.*?) ?(\w+)\??$")
_CONVERT = re.compile(
    r"(?:^|\b(?:convert|what is|what's) )(.+?) (?:degrees )?(\w+) (?:in|to|into) (?:degrees )?(\w+)\??$"
)

_INTO = (" in ", " to ", " into ")
"""No conversion is without one of them: the pattern, which tries every place, is for those alone."""


def _unit(word: str) -> str:
    return _PLURALS.get(word, word.removesuffix("s") if word not in {"celsius"} else word)


def _convert(amount: float, source: str, target: str) -> float | None:
    if (source, target) == ("fahrenheit", "celsius"):
        return (amount - 32) / 1.8
    if (source, target) == ("celsius", "fahrenheit"):
        return amount * 1.8 + 32
    for sizes in _SIZES.values():
        if source in sizes and target in sizes:
            return amount * sizes[source] / sizes[target]
    return None


def answer(text: str, context: Context) -> str | None:
    """The converted amount, or None if the utterance asks for none."""
    match = _MANY.search(text) if "how many " in text else None
    if match is not None:
        target, amount, source = match[1], match[2] or "1", match[3]
    else:
        match = _CONVERT.search(text) if any(word in text for word in _INTO) else None
        if match is None:
            return None
        amount, source, target = match[1], match[2], match[3]
    value = parse(amount)
    result = None if value is None else _convert(value, _unit(source), _unit(target))
    return None if result is None else f"That is {show(result)} {target}."
