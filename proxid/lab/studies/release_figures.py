"""Figures of one release: what `proxid attack --figure` and `proxid evaluate --figure` draw."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from proxid.errors import InputError, OutputError
from proxid.lab.released_log import Release
from proxid.lab.studies.thesis.figures.style import COLOURS, GREY, panels, save, series
from proxid.lab.studies.thesis.series import progress_series


def draw_attacks(bound: float, attacks: dict[str, Any], path: Path) -> list[Path]:
    """Right guesses of every attack that guesses owners, with its interval, against what the mechanism claims."""
    found = {name: report for name, report in attacks.items() if "same_record" in report}
    if not found:
        raise InputError("none of these attacks guesses owners: there is nothing to draw")
    figure, (axes,) = panels(1, width=6, height=0.9 + 0.28 * len(found))
    for row, report in enumerate(found.values()):
        same, pair = report["same_record"]["of_attacked"], report["pair_linkage"]["of_attacked"]
        low, high = same["ci95"]
        axes.plot([100 * low, 100 * high], [row, row], color=COLOURS[0], linewidth=2, alpha=0.5)
        axes.plot(100 * same["value"], row, "o", color=COLOURS[0], label="same record" if row == 0 else None)
        axes.plot(100 * pair["value"], row, "x", color=COLOURS[1], label="pair occurs" if row == 0 else None)
    axes.axvline(100 * bound, color=GREY, linestyle="--", linewidth=1, label="claimed")
    axes.set_yticks(range(len(found)), list(found))
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("right guesses (% of attacked records, 95 % interval)")
    axes.legend(fontsize=8, frameon=False)
    return _save(figure, path)


def draw_release(release: Release, path: Path) -> list[Path]:
    """Output and delay while the log is read (as figures 4.9 and 4.16); needs the truth file. Raises InputError."""
    if not release.exact or not (release.at >= 0).all():
        raise InputError("output over time is drawn from the truth file of proxid release")
    found = progress_series(release)
    figure, axes = panels(2)
    read = [(value or 0) / 1000 for value in found["read"]]
    series(axes[0], read, [100 * (value or 0) for value in found["released_share"]], 0, "released", markevery=3)
    series(axes[1], read, found["delay"], 1, "delay", markevery=3)
    for panel, label in zip(axes, ("released (% of records read)", "mean delay (records read meanwhile)"), strict=True):
        panel.set_xlabel("records read (thousands)")
        panel.set_ylabel(label)
        panel.set_ylim(bottom=0)
    return _save(figure, path)


def _save(figure: Figure, path: Path) -> list[Path]:
    """PNG and SVG beside each other, named like `path` without its ending. Raises OutputError."""
    try:
        return save(figure, path.parent, path.with_suffix("").name)
    except OSError as error:
        raise OutputError(f"the figure could not be written: {error.strerror}") from None
