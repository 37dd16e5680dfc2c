"""Word lists and numbers of the rules, as they stand in data/rules/*.toml: one table a file, a comment before each list."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any


@cache
def table(name: str) -> Mapping[str, Any]:
    """Everything in data/rules/`name`.toml."""
    return tomllib.loads((files("proxid.classify") / "data" / "rules" / f"{name}.toml").read_text())


def phrases(name: str, key: str) -> frozenset[str]:
    """The phrases of one list: an underscore stands for a blank, and "?" says that the character before it may be missing."""
    found = set[str]()
    for entry in words(name, key):
        parts = [("", part[0]) if part.endswith("?") else (part,) for part in re.findall(r".\??", entry)]
        found |= {"".join(choice).replace("_", " ") for choice in product(*parts)}
    return frozenset(found)


def buckets(name: str, key: str) -> dict[str, str]:
    """The words of a section's lists, each with the name of its list."""
    return {word: bucket for bucket, listed in table(name)[key].items() for word in listed.split()}


def words(name: str, key: str) -> frozenset[str]:
    """The words of one list."""
    value = table(name)
    for part in key.split("."):
        value = value[part]
    return frozenset(str(value).split())
