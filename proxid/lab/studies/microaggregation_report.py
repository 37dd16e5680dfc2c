"""001's study as numbers and figures: SRP over 1/k and over random clusters, time, and what the paper says."""

from pathlib import Path
from typing import Any

import numpy as np

from proxid.lab.studies.microaggregation import RANDOM, SIMILAR, Reals, Remains
from proxid.lab.studies.plots import Curve, Panel, draw_panels

NORMAL_95 = 1.96
PUBLISHED: dict[str, Any] = {
    "classified_at_level_5": 0.57,
    "minutes_of_1000_users": [10, 90],
    "five_categories_cost": 3.0,
    "gain_of_five_categories_at_level_5_k_5": 0.10,
    "finding": "SRP over 1/k at every level for k = 2..5",
}
"""001 §4.2: what the text says of Figures 2 to 4 (1,000 users, 55,666 queries, a 2.2 GHz core of 2009)."""


def mean(values: Reals) -> tuple[Reals, Reals]:
    """Mean SRP of every level over the users that have one, and the half-width of its 95 % interval."""
    count = (~np.isnan(values)).sum(1)
    half = NORMAL_95 * np.nanstd(values, axis=1) / np.sqrt(np.maximum(count, 1))
    return np.nanmean(values, axis=1), half


def summary(remains: Remains) -> dict[str, Any]:
    """Everything the study found, as JSON."""
    cells = []
    for (first, kind, k), values in remains.values.items():
        if kind == RANDOM:
            continue
        average, half = mean(values)
        by_chance, _ = mean(remains.values[first, RANDOM, k])
        gain, gain_half = mean(values - remains.values[first, RANDOM, k])
        cells.append({
            "categories": first, "k": k, "theory": 1 / k,
            "srp": average.tolist(), "half_width": half.tolist(), "srp_random_clusters": by_chance.tolist(),
            "gain_over_random": gain.tolist(), "gain_half_width": gain_half.tolist(),
            "over_theory_at_every_level": bool((average - half > 1 / k).all()),
            "over_random_at_every_level": bool((gain - gain_half > 0).all()),
            "seconds": remains.seconds[first, k, remains.levels],
            "seconds_by_levels": [remains.seconds[first, k, levels] for levels in range(1, remains.levels + 1)],
        })  # fmt: skip
    return {
        "published": PUBLISHED,
        "classified": remains.classified,
        "cells": cells,
        "largest_contribution": {f"{kind} k={k}": value for (kind, k), value in remains.largest.items()},
    }


def figures(remains: Remains, folder: Path) -> list[Path]:
    """Figure 3 (SRP per level), a panel a k; Figure 4 (time); Figure 2 (share classified)."""
    levels = np.arange(1, remains.levels + 1, dtype=float)
    sizes = sorted({k for _, _, k in remains.values})
    firsts = sorted({first for first, _, _ in remains.values})
    panels = []
    for k in sizes:
        curves = [
            Curve(f"{_named(first)}, {kind} clusters", levels, *mean(remains.values[first, kind, k]), style)
            for first in firsts
            for kind, style in ((SIMILAR, "-"), (RANDOM, "--"))
        ]
        panels.append(Panel(f"k = {k}", "level", "SRP", curves, [("theory: 1/k", 1 / k)], y_limits=(0, 1)))
    files = draw_panels(
        panels, folder / "microaggregation_srp", title="Semantic remain percentage (Erola et al. 2011, Figure 3)"
    )
    curves = [
        Curve(f"k = {k}, {_named(first)}", levels, _seconds(remains, first, k), None, "-" if first == 1 else "--")
        for first in firsts
        for k in sizes
    ]
    marks = [(f"paper: {minutes} min", 60.0 * minutes) for minutes in PUBLISHED["minutes_of_1000_users"]]
    title = "Time on one core (Erola et al. 2011, Figure 4)"
    cost = Panel(title, "levels of the tree", "seconds", curves, marks, y_scale="log")
    share = Panel(
        "Queries with a category at a level (Erola et al. 2011, Figure 2)", "level", "share",
        [Curve("this log", levels, np.array(remains.classified))], [("paper: level 5", 0.57)], y_limits=(0, 1.02),
    )  # fmt: skip
    return files + draw_panels([cost, share], folder / "microaggregation_cost")


def _seconds(remains: Remains, first: int, k: int) -> Reals:
    return np.array([remains.seconds[first, k, levels] for levels in range(1, remains.levels + 1)])


def _named(first: int) -> str:
    return "first category" if first == 1 else f"first {first} categories"
