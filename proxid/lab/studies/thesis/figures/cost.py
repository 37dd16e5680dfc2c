"""Figures 3.4, 3.5, 3.8, 4.12-4.15 and 4.17-4.19 of 002: time a record and memory.

Times are of the compiled loops on columns; of the anonymisers also one record at a time in plain Python, as the thesis
timed them (on a notebook of 2013).
"""

from pathlib import Path

from proxid.lab.studies.thesis import published
from proxid.lab.studies.thesis.figures.style import finish, k_axis, level_axis, mark, panels, save, series
from proxid.lab.studies.thesis.figures.utility import shown_modes
from proxid.lab.studies.thesis.growth import ORDERS
from proxid.lab.studies.thesis.plan import Cell
from proxid.lab.studies.thesis.results import DEANONYMISERS, Results

MEMORY = {
    "4.17": ("anonymiser", "Figure 4.17: memory of the anonymiser"),
    "4.18": ("rl2", "Figure 4.18: memory of de-anonymiser 2 (record linkage 2)"),
    "4.19": ("rl3", "Figure 4.19: memory of de-anonymiser 3 (record linkage 3)"),
}
TIMES = {
    "4.13": ("rl1", "Figure 4.13: de-anonymiser 1 (record linkage 1)"),
    "4.14": ("rl2", "Figure 4.14: de-anonymiser 2 (record linkage 2)"),
    "4.15": ("rl3", "Figure 4.15: de-anonymiser 3 (record linkage 3)"),
}


def draw_3_4(results: Results, folder: Path) -> list[Path]:
    """What δ does to time."""
    return _by_delta(results, folder, "us", "CPU time (µs a record)", "figure-3.4", "Figure 3.4: effects of δ on time")


def draw_3_5(results: Results, folder: Path) -> list[Path]:
    """What δ does to the k that categories end with."""
    label, title = "k at the end, mean of the categories", "Figure 3.5: effects of δ on final k"
    return _by_delta(results, folder, "mean_k", label, "figure-3.5", title)


def _by_delta(results: Results, folder: Path, what: str, label: str, name: str, title: str) -> list[Path]:
    figure, axes = panels(len(ORDERS), sharey=True)
    for panel, order in zip(axes, ORDERS, strict=True):
        for i, k in enumerate(results.plan.ks):
            rows = [
                row for row in results.get(Cell("thesis3", k, 1), "chapter3", "growth") or [] if row["order"] == order
            ]
            series(panel, [row["delta"] for row in rows], [row[what] for row in rows], i, f"k = {k}")
        panel.set_xlabel("δ")
        panel.set_title(f"in order of {order}", fontsize=9)
    axes[0].set_ylabel(label)
    axes[0].set_ylim(bottom=0)
    finish(figure, f"{title}, mode thesis3, ℓ = 1", axes, legend=None, columns=5)
    return save(figure, folder, name)


def draw_3_8(results: Results, folder: Path) -> list[Path]:
    """Time of the four de-anonymisers on chapter 3's release."""
    figure, axes = panels(1, width=6)
    for i, name in enumerate(DEANONYMISERS):
        line = results.over_k("thesis3", 1, "cost", name, "us")
        series(axes[0], results.plan.ks, line, i, f"de-anonymiser {name[-1]}")
    k_axis(axes[0], results.plan.ks)
    axes[0].set_ylabel("CPU time (µs a record)")
    axes[0].set_ylim(bottom=0)
    finish(figure, "Figure 3.8: de-anonymiser speed, mode thesis3, ℓ = 1", axes)
    return save(figure, folder, "figure-3.8")


def draw_4_12(results: Results, folder: Path) -> list[Path]:
    """Time of the anonymiser: on columns, and one record at a time."""
    modes = shown_modes(results)
    figure, axes = panels(len(modes), sharey=True)
    for panel, mode in zip(axes, modes, strict=True):
        for i, level in enumerate(results.plan.levels):
            line = results.over_k(mode, level, "cost", "anonymiser", "one_record_us")
            series(panel, results.plan.ks, line, i, f"ℓ = {level}, one by one")
        for i, level in enumerate(results.plan.levels):
            line = results.over_k(mode, level, "cost", "anonymiser", "us")
            series(panel, results.plan.ks, line, i, f"ℓ = {level}, columns", alpha=0.55, markerfacecolor="white")
        k_axis(panel, results.plan.ks)
        panel.set_yscale("log")
        panel.set_title(f"mode {mode}", fontsize=9)
    mark(axes[0], 3, published.TIME_K3.value, "thesis: 18.99 µs", shift=(6, 5))
    mark(axes[0], 190, published.TIME_K190.value, "thesis: 49.71 µs", shift=(-78, 4))
    axes[0].set_ylabel("CPU time (µs a record)")
    finish(figure, "Figure 4.12: anonymiser, mean time per query", axes, legend=None, columns=5)
    return save(figure, folder, "figure-4.12")


def draw_times(results: Results, folder: Path) -> list[Path]:
    """Figures 4.13-4.15: time of record linkage 1-3 on mode thesis."""
    paths: list[Path] = []
    for number, (name, title) in TIMES.items():
        figure, axes = panels(1, width=6)
        for i, level in enumerate(results.plan.levels):
            series(axes[0], results.plan.ks, results.over_k("thesis", level, "cost", name, "us"), i, f"ℓ = {level}")
        k_axis(axes[0], results.plan.ks)
        axes[0].set_ylabel("CPU time (µs a record)")
        axes[0].set_ylim(bottom=0)
        finish(figure, f"{title}, mean time per query, mode thesis", axes)
        paths += save(figure, folder, f"figure-{number}")
    return paths


def draw_memory(results: Results, folder: Path) -> list[Path]:
    """Figures 4.17-4.19: the most memory that the state took."""
    paths: list[Path] = []
    modes = shown_modes(results)
    for number, (name, title) in MEMORY.items():
        figure, axes = panels(len(modes), sharey=True)
        for panel, mode in zip(axes, modes, strict=True):
            for i, k in enumerate(results.plan.ks):
                line = results.over_level(mode, k, "cost", name, "most_bytes")
                megabytes = [None if value is None else value / 1e6 for value in line]
                series(panel, results.plan.levels, megabytes, i, f"k = {k}")
            level_axis(panel, results.plan.levels)
            panel.set_title(f"mode {mode}", fontsize=9)
        axes[0].set_ylabel("state (MB)")
        axes[0].set_ylim(bottom=0)
        finish(figure, title, axes, legend=None, columns=5)
        paths += save(figure, folder, f"figure-{number}")
    return paths
