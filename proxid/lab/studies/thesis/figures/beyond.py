"""What the study adds to the thesis's figures: how far attacks exceed what is claimed, and what mode mix holds."""

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from proxid.lab.studies.thesis.figures.style import (
    COLOURS,
    GREY,
    MARKERS,
    finish,
    k_axis,
    level_axis,
    panels,
    reference,
    save,
    series,
)
from proxid.lab.studies.thesis.figures.utility import series_k
from proxid.lab.studies.thesis.plan import Cell
from proxid.lab.studies.thesis.results import Results

SHOWN_LEVELS = (1, 2, 13)


def draw_excess(results: Results, folder: Path) -> list[Path]:
    """Same-record rate over the claimed bound, for the neighbour attack and the informed adversary."""
    modes, ks = results.plan.modes, results.plan.ks
    levels = [level for level in results.plan.levels if level in SHOWN_LEVELS] or list(results.plan.levels[:3])
    figure, axes = panels(len(modes), sharey=True)
    for panel, mode in zip(axes, modes, strict=True):
        for i, attack in enumerate(("informed", "neighbour")):
            for j, level in enumerate(levels):
                look = {"color": COLOURS[i], "marker": MARKERS[j], "linestyle": "-" if i == 0 else "--"}
                line = [_over_bound(results, Cell(mode, k, level), attack) for k in ks]
                series(panel, ks, line, j, f"{attack}, ℓ = {level}", **look)
        reference(panel, ks, [1.0] * len(ks), "claimed")
        k_axis(panel, ks)
        panel.set_yscale("log", base=2)
        panel.set_yticks([0.5, 1, 2, 4, 8, 16], ["½", "1", "2", "4", "8", "16"])
        panel.set_title(f"mode {mode}: {'1/(k+m)' if mode == 'mix' else '1/k'} claimed", fontsize=9)
    axes[0].set_ylabel("right guesses (multiple of the claimed rate)")
    title = "Neighbour attack and informed adversary against what the modes claim"
    finish(figure, title, axes, legend=None, columns=4)
    return save(figure, folder, "beyond-excess")


def _over_bound(results: Results, cell: Cell, attack: str) -> float | None:
    rate = results.rate(cell, attack)
    return None if rate is None else rate / cell.mechanism.bound


def theorem_tests(results: Results) -> list[tuple[Cell, str, dict[str, Any]]]:
    """Every test of mode mix against 1/(n-1): cell, attacker, the test."""
    found = []
    for cell, result in results.cells.items():
        if cell.mode != "mix" or cell.ladder:
            continue
        for name, report in result["attacks"].items():
            test = report.get("groups", {}).get("test") if isinstance(report, dict) else None
            if test and report.get("covered_by_theorem", True) and "+" not in name:
                found.append((cell, name, test))
    return found


def draw_mix(results: Results, folder: Path) -> list[Path]:
    """Mode mix: every attacker's rate over 1/(n-1) with its corrected interval; and what content tells beyond."""
    figure, axes = panels(2, width=4.6)
    tests = theorem_tests(results)
    for i, k in enumerate(results.plan.ks):
        mine = [test for cell, _, test in tests if cell.k == k]
        x = [test["records"] for test in mine]
        y = [test["rate"] / test["expected"] for test in mine]
        half = [test["bound"] / test["expected"] for test in mine]
        axes[0].errorbar(
            x, y, yerr=half, fmt=MARKERS[i], color=COLOURS[i], markersize=4, elinewidth=0.5, alpha=0.8, label=f"k = {k}"
        )
    axes[0].axhline(1, color=GREY, linewidth=1, linestyle="--")
    axes[0].set_xscale("log")
    axes[0].set_ylim(0.5, 1.5)
    axes[0].set_xlabel("records guessed inside their group")
    axes[0].set_ylabel("right guesses (multiple of 1/(n-1))")
    axes[0].set_title(f"{len(tests)} tests, intervals at 1 % / {results.plan.tests}", fontsize=9)
    _content(axes[1], results)
    finish(figure, "Mode mix: what arrivals tell (left), what published content adds (right)", axes, legend=0)
    return save(figure, folder, "beyond-mix")


def _content(panel: Axes, results: Results) -> None:
    """Statistical disclosure over ℓ, without and with the ladder."""
    levels, k = results.plan.levels, series_k(results)
    number = 0
    for ladder in (False, True):
        for attack, what in (("disclosure-category", "categories"), ("disclosure-text", "texts")):
            line = [_over_bound(results, Cell("mix", k, level, ladder), attack) for level in levels]
            if any(value is not None for value in line):
                label = f"by {what}, {'ladder' if ladder else 'texts shown as they are'}"
                series(panel, levels, line, number, label)
            number += 1
    reference(panel, levels, [1.0] * len(levels), "1/(k+m)")
    level_axis(panel, levels)
    panel.set_ylim(bottom=0)
    panel.set_ylabel("right guesses (multiple of 1/(k+m))")
    panel.set_title(f"statistical disclosure, k = {k}", fontsize=9)
    panel.legend(fontsize=8, frameon=False)
