"""004's tables and figures of a study, beside the numbers that the paper prints."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from proxid.lab.studies.plots import Curve, Panel, draw_panels

PUBLISHED: Final[dict[str, Any]] = {
    "table_4": [
        (8.00, 4.95e-3), (8.00, 2.25e-7), (8.00, 1.02e-11), (2.67, 9.66e-3), (2.67, 3.44e-4),
        (22.00, 6.79e-4), (11.00, 4.12e-4), (16.00, 2.46e-5), (8.00, 6.68e-5),
    ],
    "table_5": {
        "Original": {"precision_at_5": 0.0421, "recall_at_5": 0.1402, "sessions": 18_475},
        "KA": {"precision_at_5": 0.0693, "recall_at_5": 0.2312, "sessions": 9_494},
        "DP_C": {"precision_at_5": 0.1133, "recall_at_5": 0.3891, "sessions": 4_144},
        "DP_S": {"precision_at_5": 0.1139, "recall_at_5": 0.3911, "sessions": 4_119},
    },
}  # fmt: skip
"""What 004 prints, of AOL's log: to compare shapes with, not values."""


def remarks(found: dict[str, Any]) -> list[str]:
    """Where the tables differ from 004's, and what of the difference is explained, from this run's own figures."""
    original = {part: scores["precision_at_5"] for part, scores in found["table_5"]["Original"].items()}
    best = max(run["common"]["precision_at_5"] for name, run in found["table_5"].items() if name != "Original")
    paper = PUBLISHED["table_5"]
    ratio = paper["DP_S"]["precision_at_5"] / paper["Original"]["precision_at_5"]
    here = "the original is best" if original["common"] >= best else "a release is best"
    return [
        f"Table 5: in the paper the original scores worst and DP_S {ratio:.1f} times as well; here {here}. Scoring"
        f" each run on its own sessions explains a factor of {original['common'] / original['own']:.2f} of it (the"
        " original on common sessions over the original on its own); the rest is open, for the paper's log cannot be"
        " had.",
        "Table 5: how the releases stand to each other depends on how many phrasings a subject has: with no more than"
        " the five that are suggested, ranking changes nothing, and DP_S is DP_C.",
        "The paper counts a user's identical clicks, here a user counts once: counts are smaller, the sensitivity no"
        " larger.",
    ]


def figures(found: dict[str, Any], folder: Path) -> list[Path]:
    """Figures 1 and 2 to PNG and SVG; returns the files."""
    rows = found["figures_1_2"]
    first = [
        Panel(f"{name}: published", "K", "items", [_by_k(name, rows, "published", name)], y_scale="symlog")
        for name in ("KA", "clicks", "sessions")
    ]
    names = ("KA", "DP_C", "DP_S")
    second = [Panel("Sessions evaluated", "K", "sessions", [_by_k(n, rows, "scores", n, "sessions") for n in names])]
    for measure, label in (("precision_at_5", "P@5"), ("recall_at_5", "R@5")):
        curves = [_against_sessions(name, rows, measure) for name in names]
        second.append(Panel(f"{label} by sessions evaluated", "sessions evaluated", label, curves))
    return [
        *draw_panels(first, folder / "sessions_figure_1", columns=3),
        *draw_panels(second, folder / "sessions_figure_2", columns=3),
    ]


def _by_k(title: str, rows: list[dict[str, Any]], part: str, name: str, measure: str | None = None) -> Curve:
    known = [row for row in rows if name in row[part]]
    values = [row[part][name] if measure is None else row[part][name][measure] for row in known]
    return Curve(title, np.array([float(row["K"]) for row in known]), np.array(values, float))


def _against_sessions(name: str, rows: list[dict[str, Any]], measure: str) -> Curve:
    known = sorted(
        (row["scores"][name]["sessions"], row["scores"][name][measure]) for row in rows if name in row["scores"]
    )
    points = np.array(known, float).reshape(-1, 2)
    return Curve(name, points[:, 0], points[:, 1])
