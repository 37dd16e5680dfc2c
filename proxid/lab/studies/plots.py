"""Figures of the studies as PNG and SVG, the same bytes for the same numbers (DESIGN 14)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette: told apart by colour-blind readers."""
MARKS = "osD^vPX"
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "proxid", "svg.fonttype": "path", "font.size": 9, "axes.grid": True, "grid.alpha": 0.25,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "figure.dpi": 120,
}  # fmt: skip


@dataclass(frozen=True)
class Curve:
    """One line: its name, x, y and the half-width of the interval around y (or None)."""

    name: str
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    half: npt.NDArray[np.float64] | None = None
    style: str = "-"


@dataclass(frozen=True)
class Panel:
    """One pair of axes: curves, horizontal marks (what a paper or a theory says), labels, scale of y."""

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    marks: Sequence[tuple[str, float]] = ()
    y_scale: str = "linear"
    x_scale: str = "linear"
    y_limits: tuple[float, float] | None = None


@contextmanager
def pyplot() -> Iterator[Any]:
    """Matplotlib without a screen, in the style of all figures."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    with mpl.rc_context(_STYLE):
        yield pyplot


def draw_panels(panels: Sequence[Panel], stem: Path, *, columns: int = 2, title: str = "") -> list[Path]:
    """Draw panels side by side to `stem`.png and `stem`.svg; returns the two files."""
    with pyplot() as plt:
        rows = -(-len(panels) // columns)
        size = (5.2 * min(columns, len(panels)), 3.7 * rows)
        figure, axes = plt.subplots(rows, min(columns, len(panels)), figsize=size, squeeze=False)
        for panel, axis in zip(panels, axes.flat, strict=False):
            _draw(panel, axis)
        for axis in axes.flat[len(panels) :]:
            axis.set_visible(False)
        if title:
            figure.suptitle(title)
        return save(figure, stem, plt)


def _draw(panel: Panel, axis: Any) -> None:
    for number, curve in enumerate(panel.curves):
        colour = COLOURS[number % len(COLOURS)]
        mark = MARKS[number % len(MARKS)]
        axis.plot(curve.x, curve.y, curve.style, color=colour, marker=mark, markersize=3.5, lw=1.4, label=curve.name)
        if curve.half is not None:
            axis.fill_between(curve.x, curve.y - curve.half, curve.y + curve.half, color=colour, alpha=0.18, lw=0)
    for number, (name, y) in enumerate(panel.marks):
        axis.axhline(y, color="0.35", lw=1, ls=(":", "--", "-.")[number % 3], label=name)
    axis.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    places = sorted({float(x) for curve in panel.curves for x in curve.x})
    if len(places) <= 12 and all(x.is_integer() for x in places):
        axis.set_xticks(places)
    shown = [np.isfinite(curve.x) & np.isfinite(curve.y) for curve in panel.curves]
    for scale, asked, name in ((axis.set_xscale, panel.x_scale, "x"), (axis.set_yscale, panel.y_scale, "y")):
        values = [getattr(curve, name)[inside] for curve, inside in zip(panel.curves, shown, strict=True)]
        # Where nothing has a logarithm there is no such scale.
        scale("linear" if asked == "log" and not any((part > 0).any() for part in values) else asked)
    if panel.y_limits:
        axis.set_ylim(*panel.y_limits)
    axis.legend(fontsize=7.5)


def save(figure: Any, stem: Path, plt: Any) -> list[Path]:
    """Write a figure to both formats without dates, so that the bytes do not change from run to run."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    files = [stem.with_suffix(".png"), stem.with_suffix(".svg")]
    figure.savefig(files[0], metadata={"Software": "proxid"})
    figure.savefig(files[1], metadata={"Date": None})
    plt.close(figure)
    return files
