"""`proxid bench stream`: the streaming anonymiser next to the thesis's algorithm written plainly, in the same run."""

import importlib
from collections.abc import Mapping

from cli.bench import Figure

PARTS = ("cli.figures_per_record",)
"""Modules with a `run(options) -> dict[str, Figure]`; add one for further figures."""


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """All parts, or those named by the option `part` (the end of a module's name)."""
    figures: dict[str, Figure] = {}
    for module in PARTS:
        if module.endswith(options.get("part", "")):
            figures |= importlib.import_module(module).run(options)
    return figures
