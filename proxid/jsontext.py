"""JSON that comes from a file or a peer: whatever it holds, it is a value or a ValueError."""

import json
from typing import Any


def load_json(text: str | bytes) -> Any:
    """The value of a JSON text in UTF-8; raises ValueError, also for one that is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
