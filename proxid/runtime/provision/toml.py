"""Writing the little TOML that provisioning needs: scalars, lists, tables, arrays of tables.

Texts are written as literal strings where possible: the standard library reads those a hundred times faster, which
counts when ten thousand parties' keys are listed.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

_BARE: Final = re.compile(r"^[A-Za-z0-9_-]+$")
_LITERAL: Final = re.compile(r"^[ -&(-~]*$")


def value(item: Any) -> str:
    """A scalar or a list of scalars as TOML."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int | float):
        return repr(item)
    if isinstance(item, str):
        # A JSON string is a TOML basic string.
        return f"'{item}'" if _LITERAL.match(item) else json.dumps(item)
    return "[" + ", ".join(value(part) for part in item) + "]"


def key(*parts: str) -> str:
    """A dotted key."""
    return ".".join(part if _BARE.match(part) else value(part) for part in parts)


def lines(table: Mapping[str, Any]) -> list[str]:
    """`key = value` lines; entries that are None are left out."""
    return [f"{key(name)} = {value(item)}" for name, item in table.items() if item is not None]


def section(path: Iterable[str], table: Mapping[str, Any], array: bool = False) -> list[str]:
    """A table with its header, `[[…]]` for an element of an array, and an empty line before it."""
    header = key(*path)
    return ["", f"[[{header}]]" if array else f"[{header}]", *lines(table)]
