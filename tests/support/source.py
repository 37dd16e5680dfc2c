"""The product's own modules as text and as trees, read and parsed once for all tests of a process."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PRODUCT: Final = ("proxid", "gateway", "main_service", "auditor", "device_sim", "bench", "scripts")
# What others wrote, and what a program writes.
_FOREIGN: Final = ("proxid/wire/v1", "bench/yardsticks")


def modules() -> Iterator[tuple[str, str]]:
    """Every module of the product, by its path, with its text."""
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(_FOREIGN):
                yield name, path.read_text("utf-8")


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of the product, by its path, parsed."""
    return {name: ast.parse(text) for name, text in modules()}
