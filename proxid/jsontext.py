"""JSON that comes from a file or a peer: whatever it holds, it is a value or a ValueError."""

import json
import re
from typing import Any, Final

_BOM: Final = b"\xef\xbb\xbf"
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def load_json(text: str | bytes, any_text: bool = False) -> Any:
    """The value of a JSON text in UTF-8.

    Args:
        any_text: lone surrogates, which JSON can say and no file, peer or database takes, are taken too.

    Raises:
        ValueError: it is none, or nested too deeply to be read.
    """
    try:
        said = text.removeprefix(_BOM).decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(said)
        if not any_text and _SURROGATE.search(said):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except RecursionError:
        raise ValueError("nested too deeply") from None
