"""What provisioning writes, as TOML."""

from collections.abc import Mapping
from typing import Any

import tomli_w


def dumps(table: Mapping[str, Any]) -> str:
    """A table as TOML; entries that are None, for which it has no word, are left out."""
    return tomli_w.dumps(_given(table))


def _given(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _given(item) for key, item in value.items() if item is not None}
    return [_given(item) for item in value] if isinstance(value, list | tuple) else value
