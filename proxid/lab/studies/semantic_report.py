"""000's study as numbers and figures: means with intervals, paired differences, and what the paper says."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from proxid.lab.release.semantic.domain import Reals
from proxid.lab.studies.plots import Curve, Panel, draw_panels
from proxid.lab.studies.semantic import HBDP, PROFILES, WAYS, Losses

NORMAL_95 = 1.96
METHODS = ("sqc2", "sqc1", "nsqc", HBDP)
"""In the order of utility that the paper found, best first."""
TITLES = {"user": "ε/m a query (the stated guarantee)", "query": "ε a query (the paper's curves)"}
PROFILE_TITLES = {"topics": "profiles over the topics", "other": "with a bin for what left the topics"}
PUBLISHED = {
    "A": "SQC2 significantly best for ε > 1, SQC1 and NSQC close, HBDP worst",
    "B": "larger than in A; NSQC slightly worse near ε = 10; HBDP worst, more than twice its value in A",
    "C": "smaller than in B, about B − A; SQC1 and SQC2 well under NSQC; HBDP worst, about as in B",
}
"""What 000 §4 says of its Figures 2 to 4; it prints no numbers."""


def remarks(found: dict[str, Any]) -> list[str]:
    """Where the figures differ from 000's, from this run's own figures, and what is known of why."""
    said = [
        "sim is 1 − log2(1 + ratio): the paper's −log2(ratio) has no finite maximum, which its equation 6 needs. HBDP's"
        " noise has the sensitivity 2M, where the paper has M: replacing a user moves that many counts.",
    ]
    a = found["settings"].get("A")
    if a is None:
        return said
    losses = {method: part["mean"] for method, part in a["topics"]["query"]["loss"].items()}
    equal, last = a["domains_equal_topics"].get(HBDP), found["epsilons"][-1]
    said.append(
        f"Setting A, ε = {last:g}: Sánchez et al. find roughly a fourth of the loss with a criterion of meaning,"
        f" here it is 1/{losses['nsqc'][-1] / losses['sqc2'][-1]:.1f}. Chance it is not (the intervals are"
        " hundredths); the paper's topics (its Figure 1) are lost, and why is open."
    )
    if equal is not None:
        low, high = min(losses["nsqc"]), max(losses["nsqc"])
        said.append(
            f"D = P: Sánchez et al. find HBDP similar to NSQC with D > P ({low:.2f} to {high:.2f} here); here HBDP"
            f" loses {equal:.2f}. Noise for the paper's M instead of 2M would lose less, so that is not it; it is open."
        )
    return said


def interval(values: Reals) -> tuple[float, float]:
    """Mean and half-width of its 95 % interval over users (normal)."""
    half = NORMAL_95 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return float(values.mean()), float(half)


def paired(worse: Reals, better: Reals) -> dict[str, float]:
    """Difference of two methods over the users both have: mean, 95 % interval."""
    users = min(len(worse), len(better))
    mean, half = interval(worse[:users] - better[:users])
    return {"mean": mean, "low": mean - half, "high": mean + half}


def summary(losses: Losses) -> dict[str, Any]:
    """Everything the study found, as JSON."""
    settings = sorted({setting for _, setting, _, _ in losses.values})
    result: dict[str, Any] = {"epsilons": list(losses.epsilons), "settings": {}}
    for setting in settings:
        entry: dict[str, Any] = {"published": PUBLISHED[setting], "domains_equal_topics": {}}
        for method in METHODS:
            if (setting, method) in losses.equal:
                entry["domains_equal_topics"][method] = losses.equal[setting, method]
        for kind in PROFILES:
            entry[kind] = {way: _way(losses, kind, setting, way) for way in WAYS}
        result["settings"][setting] = entry
    return result


def _way(losses: Losses, kind: str, setting: str, way: str) -> dict[str, Any]:
    curves = {m: losses.values[kind, setting, way, m] for m in METHODS}
    found: dict[str, Any] = {}
    for method, values in curves.items():
        pairs = [interval(row) for row in values]
        found[method] = {"mean": [p[0] for p in pairs], "half_width": [p[1] for p in pairs], "users": values.shape[1]}
    differences = {
        f"{worse} - {better}": [paired(w, b) for w, b in zip(curves[worse], curves[better], strict=True)]
        for better, worse in pairwise(METHODS)
    }
    return {"loss": found, "paired": differences, "ordering": ordering(losses, kind, setting, way)}


def ordering(losses: Losses, kind: str, setting: str, way: str) -> dict[str, bool]:
    """Whether each step SQC2 < SQC1, SQC1 ≤ NSQC, NSQC < HBDP holds at every ε > 1.

    `<`: the paired interval lies over 0. `≤`: it does not lie under 0.
    """
    held: dict[str, bool] = {}
    for better, worse in pairwise(METHODS):
        pairs = (losses.values[kind, setting, way, method] for method in (worse, better))
        rows = [paired(w, b) for epsilon, w, b in zip(losses.epsilons, *pairs, strict=True) if epsilon > 1]
        strict = (better, worse) != ("sqc1", "nsqc")
        held[f"{better} {'<' if strict else '<='} {worse}"] = all(
            row["low"] > 0 if strict else row["high"] >= 0 for row in rows
        )
    return held


def figures(losses: Losses, folder: Path) -> list[Path]:
    """The paper's Figures 2 to 4, one a setting, with both ways to spend ε side by side."""
    files: list[Path] = []
    for setting in sorted({s for _, s, _, _ in losses.values}):
        panels = [_panel(losses, kind, setting, way) for kind in PROFILES for way in WAYS]
        files += draw_panels(
            panels, folder / f"semantic_{setting}", title=f"Utility loss, setting {setting} (Sánchez et al. 2018, §4)"
        )
    return files


def _panel(losses: Losses, kind: str, setting: str, way: str) -> Panel:
    x = np.array(losses.epsilons)
    curves = []
    for method in METHODS:
        values = losses.values[kind, setting, way, method]
        pairs = np.array([interval(row) for row in values])
        curves.append(Curve(method.upper(), x, pairs[:, 0], pairs[:, 1]))
    equal = max((v for (s, m), v in losses.equal.items() if s == setting and m != HBDP), default=0.0)
    marks = [("D = P: SQC1, SQC2, NSQC", equal)]
    if (setting, HBDP) in losses.equal:
        marks.append(("D = P: HBDP, ε = 1", losses.equal[setting, HBDP]))
    return Panel(f"{TITLES[way]}\n{PROFILE_TITLES[kind]}", "ε", "mean JSD (bits)", curves, marks)
