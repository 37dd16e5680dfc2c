"""What people are told of their household, in their language: `en.toml`, `de.toml`, the same keys in each."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

LANGUAGES: Final = ("en", "de")
Words = Mapping[str, Any]
"""A tree of texts by name, with `{fields}`."""


@cache
def words_in(language: str) -> Words:
    """The texts in one of `LANGUAGES`."""
    assert language in LANGUAGES
    return tomllib.loads(files(__name__).joinpath(f"{language}.toml").read_text("utf-8"))
