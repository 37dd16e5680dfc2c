"""What a long suite is told by the environment: which seeds, or one number. What does not parse is an error."""

import os
import re
from pathlib import Path


def seeds(name: str, default: str) -> range:
    """Those of the variable `name`: `FIRST:END` without END, or one number. Raises ValueError."""
    return seeds_of(os.environ.get(name, default), name)


def seeds_of(text: str, name: str) -> range:
    """The seeds that a text names. Raises ValueError, with `name` as what was wrong."""
    found = re.fullmatch(r"([0-9]+)(?::([0-9]+))?", text)
    if found is None:
        raise ValueError(f"{name} is FIRST:END, without END, or one seed, and not {text!r}")
    first = int(found[1])
    chosen = range(first, first + 1 if found[2] is None else int(found[2]))
    if not chosen:
        raise ValueError(f"{name}={text} is no seed: END is not above FIRST")
    return chosen


def again_of(file: str, slow: bool) -> str:
    """What pytest is told to play a test file again: its path from the repository's root, its slow tests or not."""
    path = Path(file).resolve().relative_to(Path(__file__).resolve().parents[2]).as_posix()
    return f"-m slow {path}" if slow else path


def number(name: str, default: int) -> int:
    """The whole number of the variable `name`. Raises ValueError."""
    text = os.environ.get(name, str(default))
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError(f"{name} is one whole number, and not {text!r}")
    return int(text)
