"""Draws every figure that the cells of a study allow."""

from collections.abc import Callable
from pathlib import Path

from proxid.lab.studies.thesis.figures import beyond, cost, privacy, utility
from proxid.lab.studies.thesis.results import Results

Draw = Callable[[Results, Path], list[Path]]
FIGURES: tuple[tuple[str | None, Draw], ...] = (
    ("thesis3", cost.draw_3_4),
    ("thesis3", cost.draw_3_5),
    ("thesis3", privacy.draw_3_6),
    ("thesis3", privacy.draw_3_7),
    ("thesis3", cost.draw_3_8),
    ("thesis", privacy.draw_4_6),
    ("thesis", privacy.draw_4_7),
    (None, utility.draw_4_8),
    (None, utility.draw_4_9),
    (None, utility.draw_4_10),
    (None, utility.draw_4_11),
    (None, cost.draw_4_12),
    ("thesis", cost.draw_times),
    (None, utility.draw_4_16),
    (None, cost.draw_memory),
    (None, beyond.draw_excess),
    ("mix", beyond.draw_mix),
)
"""The mode that a figure needs, if any, and what draws it."""


def draw_all(results: Results, folder: Path) -> list[Path]:
    """Every figure as PNG and SVG in `folder`."""
    paths: list[Path] = []
    for mode, draw in FIGURES:
        if mode is None or mode in results.plan.modes:
            paths += draw(results, folder)
    return paths
