"""What every study leaves in its folder: figures, the numbers as JSON, a manifest."""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proxid import __version__
from proxid.logs.whole import whole_file


def write_study(
    folder: Path, name: str, found: Mapping[str, Any], parameters: Mapping[str, Any], figures: Sequence[Path]
) -> list[Path]:
    """Write `name.json` and `name.manifest.json` beside the figures; returns every file of the study."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = folder / f"{name}.json"
    _write(numbers, found)
    files = [numbers, *figures]
    manifest = {
        "study": name, "version": __version__, "python": platform.python_version(), "parameters": dict(parameters),
        "files": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
    }  # fmt: skip
    target = folder / f"{name}.manifest.json"
    _write(target, manifest)
    return [*files, target]


def _write(path: Path, value: Mapping[str, Any]) -> None:
    with whole_file(path) as file:
        file.write((json.dumps(value, indent=1, sort_keys=True) + "\n").encode())
