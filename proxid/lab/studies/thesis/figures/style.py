"""One look for all figures: a colour-blind-safe palette (Okabe and Ito), a marker and a dash a series, units."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), "-")
GREY, RED = "#666666", "#B00020"
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "svg.hashsalt": "proxid",
    "legend.frameon": False,
}


def panels(count: int, *, height: float = 3.6, width: float = 3.7, **options: Any) -> tuple[Figure, list[Axes]]:
    """A row of panels."""
    from matplotlib import rc_context

    with rc_context(_STYLE):
        figure = Figure(figsize=(width * count + 0.6, height), layout="constrained")
        axes = figure.subplots(1, count, squeeze=False, **options)[0]
    return figure, list(axes)


def series(axes: Axes, x: Sequence[float], y: Sequence[float | None], index: int, label: str, **options: Any) -> None:
    """One line of a figure; missing values leave a gap."""
    values = [float("nan") if value is None else value for value in y]
    look = {"color": COLOURS[index % 7], "marker": MARKERS[index % 7], "linestyle": DASHES[index % 7]}
    axes.plot(x, values, label=label, markersize=4.5, linewidth=1.4, **{**look, **options})


def k_axis(axes: Axes, ks: Sequence[int]) -> None:
    """k on a logarithmic axis, its own values as ticks."""
    axes.set_xscale("log")
    axes.set_xticks(list(ks), [str(k) for k in ks])
    axes.minorticks_off()
    axes.set_xlabel("k (people)")


def level_axis(axes: Axes, levels: Sequence[int]) -> None:
    """ℓ on a linear axis."""
    axes.set_xticks(list(levels), [str(level) for level in levels])
    axes.set_xlabel("ℓ (levels of the category tree)")


def percent_axis(axes: Axes, label: str, *, log: bool = False) -> None:
    """Per cent on the y axis."""
    from matplotlib.ticker import FuncFormatter

    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_ylabel(label)


def mark(axes: Axes, x: float, y: float, text: str, *, shift: tuple[float, float]) -> None:
    """A value that the thesis publishes: a red star with its number."""
    axes.plot([x], [y], marker="*", markersize=11, color=RED, markeredgecolor="white", linestyle="none", zorder=5)
    line = {"arrowstyle": "-", "color": RED, "linewidth": 0.6}
    ground = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}  # no line strikes it through
    where: dict[str, Any] = {"textcoords": "offset points", "xytext": shift, "arrowprops": line, "bbox": ground}
    axes.annotate(text, (x, y), color=RED, fontsize=8, zorder=6, **where)


def reference(axes: Axes, x: Sequence[float], y: Sequence[float], label: str) -> None:
    """A thin grey line that others are compared with."""
    axes.plot(x, y, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)), label=label, zorder=1)


def finish(figure: Figure, title: str, axes: Sequence[Axes], *, legend: int | None = 0, columns: int = 1) -> None:
    """Title and legend; the legend goes into panel `legend`, or below all panels when None."""
    figure.suptitle(title, fontsize=10)
    if legend is None:
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
    else:
        axes[legend].legend(fontsize=8, ncols=columns, frameon=False)


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write the figure as PNG and SVG."""
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    with rc_context(_STYLE):
        figure.savefig(paths[0], dpi=150)
        figure.savefig(paths[1], metadata={"Date": None})
    return paths
