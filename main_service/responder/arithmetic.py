"""Sums as people say them: "what is forty two times seven", "15 percent of 80", "square root of 81"."""

import math
import re
from collections.abc import Callable

from main_service.responder.base import Context
from main_service.responder.numbers import parse, show

_LEAD = re.compile(r"^(?:hey \w+ |please )?(?:what is|what's|whats|calculate|how much is|tell me|solve)\s+")
_OPERATORS: tuple[tuple[re.Pattern[str], Callable[[float, float], float]], ...] = (
    (re.compile(r"^(.+?) (?:plus|\+) (.+)$"), lambda a, b: a + b),
    (re.compile(r"^(.+?) (?:minus|-) (.+)$"), lambda a, b: a - b),
    (re.compile(r"^(.+?) (?:times|multiplied by|\*|x) (.+)$"), lambda a, b: a * b),
    (re.compile(r"^(.+?) (?:divided by|over|/) (.+)$"), lambda a, b: a / b),
    (re.compile(r"^(.+?) to the power of (.+)$"), lambda a, b: a**b if abs(a) < 1e6 and abs(b) < 50 else math.inf),
    (re.compile(r"^(.+?) percent of (.+)$"), lambda a, b: a * b / 100),
)
_SAID = frozenset(
    ["plus", "+", "minus", "-", "times", "multiplied", "*", "x", "divided", "over", "/", "power", "percent"]
)
"""No sum is without one of these words: the patterns, which try every place, are for those alone."""
_ROOT = re.compile(r"^(?:the )?square root of (.+)$")


def answer(text: str, context: Context) -> str | None:
    """The result of a sum, or None if it is none."""
    phrase = _LEAD.sub("", text).rstrip("?. ")
    root = _ROOT.match(phrase)
    if root is not None:
        value = parse(root[1])
        return None if value is None else f"It is {show(math.sqrt(value))}."
    if _SAID.isdisjoint(phrase.split(" ")):
        return None
    for pattern, operation in _OPERATORS:
        match = pattern.match(phrase)
        if match is None:
            continue
        left, right = parse(match[1]), parse(match[2])
        if left is None or right is None:
            continue
        try:
            result = operation(left, right)
        except (ZeroDivisionError, OverflowError):
            return "That has no answer."
        return f"It is {show(result)}." if math.isfinite(result) else "That is too large for me."
    return None
