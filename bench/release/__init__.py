"""`proxid bench release`: figures of the release methods, each part next to its baseline in the same run."""

import importlib
from collections.abc import Mapping

from bench import Figure

PARTS = ("bench.release.semantic", "bench.release.zealous")
"""Modules with a `run(options) -> dict[str, Figure]`; add one for further figures."""


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """All parts, or the one named by the option `part` (the last word of its module)."""
    figures: dict[str, Figure] = {}
    for module in PARTS:
        if options.get("part", module.rpartition(".")[2]) == module.rpartition(".")[2]:
            figures |= importlib.import_module(module).run(options)
    return figures
