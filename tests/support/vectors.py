"""Reads the vector files: JSON with `source`, `licence` and `vectors`."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "vectors"


@cache
def load(name: str) -> dict[str, Any]:
    """A vector file, checked to say where it comes from."""
    document: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert document["source"]
    assert document["licence"]
    return document
