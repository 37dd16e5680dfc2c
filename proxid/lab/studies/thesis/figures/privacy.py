"""Figures 3.6, 3.7, 4.6 and 4.7 of 002: who is linked, at which k and ℓ."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from proxid.lab.studies.thesis import published
from proxid.lab.studies.thesis.figures.style import (
    COLOURS,
    GREY,
    finish,
    k_axis,
    mark,
    panels,
    percent_axis,
    reference,
    save,
    series,
)
from proxid.lab.studies.thesis.plan import Cell
from proxid.lab.studies.thesis.results import DEANONYMISERS, RECORD_LINKAGE, Results, percent

NAMES = {"rl1": "record linkage 1", "rl2": "record linkage 2", "rl3": "record linkage 3"}


def draw_3_6(results: Results, folder: Path) -> list[Path]:
    """Matching records of chapter 3: the release itself, and what de-anonymisers recover from it."""
    figure, axes = panels(1, width=6)
    ks, cells = results.plan.ks, [Cell("thesis3", k, 1) for k in results.plan.ks]
    lines = {
        "A(NR): released, k fixed": [percent(results.get(c, "chapter3", "matches_without_restriction")) for c in cells],
        "A: released, k growing": [percent(results.get(c, "chapter3", "matches")) for c in cells],
        "best de-anonymiser": [_best(results, cell) for cell in cells],
    }
    for i, (label, line) in enumerate(lines.items()):
        series(axes[0], ks, line, i, label)
    mark(axes[0], ks[0], published.DEANON_BEST.value, "thesis: best de-anonymiser 1.89 %", shift=(8, -3))
    k_axis(axes[0], ks)
    percent_axis(axes[0], "records under their owner (% of input)")
    axes[0].set_ylim(bottom=0)
    finish(figure, "Figure 3.6: matching records, mode thesis3, ℓ = 1", axes)
    return save(figure, folder, "figure-3.6")


def _best(results: Results, cell: Cell) -> float | None:
    found = [
        rate for name in DEANONYMISERS if (rate := results.rate(cell, name, "same_record", "of_input")) is not None
    ]
    return percent(max(found)) if found else None


def draw_3_7(results: Results, folder: Path) -> list[Path]:
    """The four de-anonymisers, on the release's order and on logs sorted by time (+T)."""
    figure, axes = panels(2, sharey=True)
    ks = results.plan.ks
    for i, name in enumerate(DEANONYMISERS):
        label = f"de-anonymiser {name[-1]}"
        series(axes[0], ks, results.rates_over_k("thesis3", 1, name, "same_record", "of_input"), i, label)
        sorted_logs = [results.get(Cell("thesis3", k, 1), "chapter3", "by_time", name, "value") for k in ks]
        series(axes[1], ks, [percent(value) for value in sorted_logs], i, label)
    for panel, title in zip(axes, ("in order of release", "sorted by time (+T)"), strict=True):
        reference(panel, ks, [100 / k for k in ks], "1/k")
        mark(panel, ks[0], published.DEANON_BEST.value, "thesis: 1.89 %", shift=(8, -2))
        k_axis(panel, ks)
        panel.set_title(title, fontsize=9)
    percent_axis(axes[0], "records linked (% of input)", log=True)
    finish(figure, "Figure 3.7: de-anonymisers on mode thesis3, ℓ = 1", axes)
    return save(figure, folder, "figure-3.7")


def draw_4_6(results: Results, folder: Path) -> list[Path]:
    """Record linkage 1-3 on mode thesis: pair linkage over all input, as the thesis counts."""
    figure, axes = panels(3, sharey=True)
    ks = results.plan.ks
    for panel, name in zip(axes, RECORD_LINKAGE, strict=True):
        for i, level in enumerate(results.plan.levels):
            series(
                panel, ks, results.rates_over_k("thesis", level, name, "pair_linkage", "of_input"), i, f"ℓ = {level}"
            )
        reference(panel, ks, [100 / k for k in ks], "1/k")
        k_axis(panel, ks)
        panel.set_title(NAMES[name], fontsize=9)
    mark(axes[0], 3, published.RL1_BEST.value, "thesis: 18.36 %\n(ℓ = 13)", shift=(36, 14))
    mark(axes[2], 3, published.RL3_BEST.value, "thesis: 23.18 %\n(ℓ = 13)", shift=(36, 8))
    percent_axis(axes[0], "pairs linked (% of input)", log=True)
    finish(figure, "Figure 4.6: record linkage on mode thesis", axes, legend=None, columns=6)
    return save(figure, folder, "figure-4.6")


def draw_4_7(results: Results, folder: Path) -> list[Path]:
    """The Kolmogorov-Smirnov test of figure 4.7, and the same test on an attack that is over 1/k."""
    figure, axes = panels(2, sharey=True)
    for panel, (attack, title) in zip(
        axes, (("rl3", "record linkage 3"), ("neighbour", "neighbour attack")), strict=True
    ):
        found = results.kolmogorov_smirnov(attack)
        if found is None:
            continue
        _staircase(panel, found["theory"], "1/k", GREY, "--")
        _staircase(panel, found["rates"], "measured", COLOURS[0], "-")
        text = f"D = {found['distance']:.2f}, p = {found['p_value']:.4f}\n{found['points']} points a side"
        text += f"\n{found['over_1_k']} of {found['points']} rates over their 1/k"
        panel.text(0.97, 0.08, text, transform=panel.transAxes, ha="right", fontsize=8)
        panel.set_title(title, fontsize=9)
        panel.set_xlabel("rate (pairs linked over input)")
    axes[0].set_ylabel("cumulative share of cells")
    title = "Figure 4.7: Kolmogorov-Smirnov test against 1/k (thesis: D = 0.08, p = 0.9977), drawn, not evidence"
    finish(figure, title, axes)
    return save(figure, folder, "figure-4.7")


def _staircase(panel: Axes, values: Sequence[float], label: str, colour: str, dash: str) -> None:
    steps = np.arange(1, len(values) + 1) / len(values)
    panel.step([0, *values], [0, *steps], where="post", label=label, color=colour, linestyle=dash)
