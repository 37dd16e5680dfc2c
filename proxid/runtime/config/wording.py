"""What is wrong with a configuration, in words: key, fault, what is allowed. A value is never repeated (DESIGN 16).

The validator's own messages speak of its types; here each of its error types has a sentence.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import ErrorDetails

NAME_PATTERN: Final = r"^[a-z0-9][a-z0-9._-]{0,62}$"
FINGERPRINT_PATTERN: Final = r"^[0-9a-f]{64}$"
LOCALE_PATTERN: Final = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
"""The form of RFC 5646's language tags."""

PATTERNS: Final = {
    NAME_PATTERN: "must be a name: lower-case letters, digits, dot, dash and underscore, at most 63",
    LOCALE_PATTERN: "must be a language tag, as en-US",
    FINGERPRINT_PATTERN: "must be a fingerprint: 64 hexadecimal digits in lower case",
}
_LONGEST: Final = 80
"""Characters of a key that are repeated; the longest variable's name has half of them."""
_REMOVED: Final = {
    "rate_burst": "is no key any more and never had an effect: take it out",
    "alias_period": "is no key here any more, since aliases last an epoch: take it out",
}
"""Keys of older files, and what to do about them."""
_WORDS: Final[Mapping[str, str | Callable[[Mapping[str, Any]], str]]] = {
    "missing": "is missing",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be a text",
    "path_type": "must be a path, as a text",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "set_type": "must be a list",
    "frozen_set_type": "must be a list",
    "dict_type": "must be a table",
    "mapping_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "greater_than": lambda of: f"must be more than {of['gt']}",
    "greater_than_equal": lambda of: f"must be at least {of['ge']}",
    "less_than": lambda of: f"must be less than {of['lt']}",
    "less_than_equal": lambda of: f"must be at most {of['le']}",
    "too_short": lambda of: f"must have at least {of['min_length']} element(s)",
    "too_long": lambda of: f"must have at most {of['max_length']} element(s)",
    "string_too_short": lambda of: f"must have at least {of['min_length']} character(s)",
    "string_too_long": lambda of: f"must have at most {of['max_length']} characters",
    "string_pattern_mismatch": lambda of: PATTERNS.get(of["pattern"], "is not of the allowed form"),
    "literal_error": lambda of: f"must be {of['expected']}",
    "enum": lambda of: f"must be {of['expected']}",
    "value_error": lambda of: str(of["error"]),
}


def shown(part: str | int) -> str:
    """A part of a key as it may stand on a terminal: whoever wrote the file may have written anything there."""
    text = str(part)
    return text if text.isprintable() and len(text) <= _LONGEST else "…"


def describe(model: type[BaseModel], error: ErrorDetails, skip: int = 0) -> str:
    """One fault: `KEY: WHAT`, or `KEY WHAT` where that reads on.

    Args:
        skip: parts of the key that are left out, because they are a file's name.
    """
    location = error["loc"]
    key = ".".join(shown(part) for part in location[skip:])
    if error["type"] == "extra_forbidden":
        return f"{key}: {_REMOVED.get(key) or f'no such key{_meant(model, location)}'}"
    words = _WORDS.get(error["type"], "is not valid")
    said = words if isinstance(words, str) else words(error.get("ctx", {}))
    if not key:  # of the whole: the text names the key
        return said
    return f"{key} {said}" if said.startswith(("is ", "must ")) else f"{key}: {said}"


def _meant(model: type[BaseModel], location: Iterable[int | str]) -> str:
    *outer, last = location
    known = _keys(model, outer)
    close = difflib.get_close_matches(str(last), known, n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _keys(model: type[BaseModel] | None, outer: Iterable[int | str]) -> list[str]:
    """Keys that are allowed below a path; none where that is not a section."""
    for part in outer:
        field = None if model is None else model.model_fields.get(str(part))
        kind = None if field is None else field.annotation
        model = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
    return [] if model is None else [field.alias or name for name, field in model.model_fields.items()]
