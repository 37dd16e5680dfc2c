"""Figures 4.8-4.11 and 4.16 of 002: what comes out, when, and how far profiles move."""

from pathlib import Path

from proxid.lab.studies.thesis import published
from proxid.lab.studies.thesis.figures.style import (
    finish,
    k_axis,
    level_axis,
    mark,
    panels,
    percent_axis,
    reference,
    save,
    series,
)
from proxid.lab.studies.thesis.plan import Cell
from proxid.lab.studies.thesis.results import Results, percent

MODES = ("thesis", "mix")
SERIES_K = 10
"""The k of figures 4.9 and 4.16, which follow ℓ."""


def shown_modes(results: Results) -> tuple[str, ...]:
    """The thesis's mechanism and ours side by side, as far as they ran."""
    return tuple(mode for mode in MODES if mode in results.plan.modes) or results.plan.modes


def series_k(results: Results) -> int:
    """The k at which developments are shown."""
    return SERIES_K if SERIES_K in results.plan.ks else results.plan.ks[0]


def draw_4_8(results: Results, folder: Path) -> list[Path]:
    """Mean final |Q| of the nodes that released something."""
    modes, ks = shown_modes(results), results.plan.ks
    figure, axes = panels(len(modes), sharey=True)
    for panel, mode in zip(axes, modes, strict=True):
        for i, level in enumerate(results.plan.levels):
            line = results.over_k(mode, level, "metrics", "buffers", "final_q_active_mean")
            series(panel, ks, line, i, f"ℓ = {level}")
        reference(panel, ks, list(map(float, ks)), "|Q| = k")
        k_axis(panel, ks)
        panel.set_yscale("log")
        panel.set_title(f"mode {mode}", fontsize=9)
    axes[0].set_ylabel("mean final |Q| (waiting records a node)")
    finish(figure, "Figure 4.8: queries that still wait at the end", axes, legend=None, columns=6)
    return save(figure, folder, "figure-4.8")


def draw_4_9(results: Results, folder: Path) -> list[Path]:
    """Output over input while the log is read."""
    modes, k = shown_modes(results), series_k(results)
    figure, axes = panels(len(modes), sharey=True)
    for panel, mode in zip(axes, modes, strict=True):
        for i, level in enumerate(results.plan.levels):
            found = results.get(Cell(mode, k, level), "series") or {"read": [], "released_share": []}
            line = [percent(share) for share in found["released_share"]]
            series(panel, [read / 1000 for read in found["read"]], line, i, f"ℓ = {level}", markevery=4)
        panel.set_title(f"mode {mode}", fontsize=9)
        panel.set_xlabel("records read (thousands)")
    axes[0].set_ylim(0, 102)
    percent_axis(axes[0], "released (% of records read)")
    finish(figure, f"Figure 4.9: output queries vs. total queries, k = {k}", axes, legend=None, columns=6)
    return save(figure, folder, "figure-4.9")


def draw_4_10(results: Results, folder: Path) -> list[Path]:
    """Mean distance between a person's profiles, and the largest there could be."""
    levels, modes = results.plan.levels, shown_modes(results)
    figure, axes = panels(len(modes), sharey=True)
    for panel, mode in zip(axes, modes, strict=True):
        for i, k in enumerate(results.plan.ks):
            series(panel, levels, _edges(results, mode, k, "distance"), i, f"k = {k}")
        reference(panel, levels, _edges(results, mode, results.plan.ks[0], "maximum"), "largest possible")
        level_axis(panel, levels)
        panel.set_title(f"mode {mode}", fontsize=9)
    axes[0].set_ylabel("distance a record (edges of the tree)")
    axes[0].set_ylim(bottom=0)
    title = "Figure 4.10: earth mover's distance between profiles before and after"
    finish(figure, title, axes, legend=None, columns=6)
    return save(figure, folder, "figure-4.10")


def _edges(results: Results, mode: str, k: int, what: str) -> list[float]:
    """Edges a record: the loss N1 times the tree's diameter, or the diameter itself."""
    values = []
    for level in results.plan.levels:
        found = results.get(Cell(mode, k, level), "metrics", "emd") or {}
        span, loss = found.get("tree_diameter", float("nan")), found.get("loss_n1", float("nan"))
        values.append(float(span if what == "maximum" else span * loss))
    return values


def draw_4_11(results: Results, folder: Path) -> list[Path]:
    """Loss of utility under both normalisations; in mix also without the groups that moved up."""
    levels, modes, k = results.plan.levels, shown_modes(results), series_k(results)
    figure, axes = panels(len(modes), sharey=True)
    for panel, mode in zip(axes, modes, strict=True):
        lines: dict[str, tuple[str, ...]] = {"N1 (deepest leaves)": ("loss_n1",), "N2 (through the root)": ("loss_n2",)}
        lines["N1, pairs as they come"] = ("paired_loss_n1",)
        if mode == "mix":
            lines |= {"N1, not moved up": ("unraised", "loss_n1"), "N2, not moved up": ("unraised", "loss_n2")}
        for i, (label, path) in enumerate(lines.items()):
            line = [percent(value) for value in results.over_level(mode, k, "metrics", "emd", *path)]
            series(panel, levels, line, i, label)
        mark(panel, 1, published.LOSS_LEVEL_1.value, "thesis: 42.03 %", shift=(8, 2))
        mark(panel, 6, published.LOSS_LEVEL_6.value, "thesis: under 1 %", shift=(2, 8))
        level_axis(panel, levels)
        panel.set_title(f"mode {mode}", fontsize=9)
        panel.legend(fontsize=8, frameon=False)
    percent_axis(axes[0], "utility lost (%)")
    axes[0].set_ylim(bottom=-2)
    figure.suptitle(f"Figure 4.11: loss of utility, k = {k}", fontsize=10)
    return save(figure, folder, "figure-4.11")


def draw_4_16(results: Results, folder: Path) -> list[Path]:
    """Mean delay of what leaves, while the log is read."""
    modes, k = shown_modes(results), series_k(results)
    figure, axes = panels(len(modes), sharey=True)
    for panel, mode in zip(axes, modes, strict=True):
        for i, level in enumerate(results.plan.levels):
            found = results.get(Cell(mode, k, level), "series") or {"read": [], "delay": []}
            series(panel, [read / 1000 for read in found["read"]], found["delay"], i, f"ℓ = {level}", markevery=4)
        panel.set_title(f"mode {mode}", fontsize=9)
        panel.set_xlabel("records read (thousands)")
        panel.set_yscale("log")
    reference(axes[0], [0, results.records / 1000], [40_000, 40_000], "thesis: under 40,000 for ℓ ≤ 6")
    axes[0].set_ylabel("mean delay (records read meanwhile)")
    finish(figure, f"Figure 4.16: delay of queries, k = {k}", axes, legend=None, columns=6)
    return save(figure, folder, "figure-4.16")
