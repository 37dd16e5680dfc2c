"""The comparison of `study all` as a table of cells and as a figure."""

from pathlib import Path
from typing import Any

import numpy as np

from proxid.study.plots import COLOURS, pyplot, save

COLUMNS = (
    "mechanism", "paper", "guarantee", "owner found", "person+text", "true topics", "1-issuer texts", "vanity", "rows",
    "texts", "JSD L1", "JSD L2", "EMD", "top 100", "L1 freq.", "CPU s",
)  # fmt: skip
LEGEND = {
    "owner found": "best attack of the log lab that names the owner of a published record, with the attack's name",
    "person+text": "best attack's guesses in which that person issued that text",
    "true topics": "published (person, full category) pairs that are true of the person",
    "1-issuer texts": "texts that one person alone issued and that are published as they were",
    "vanity": "the same for texts issued more than once",
    "rows": "published rows over records of the log",
    "texts": "distinct texts of the log that are published",
    "JSD L1, L2": "divergence of people's profiles at levels 1 and 2 (1: lost)",
    "EMD": "people's profiles over the tree, in parts of its widest distance",
    "top 100": "of the 100 most frequent queries, those published",
    "L1 freq.": "L1 distance of the frequencies of those 100",
}


BARS = {
    "owner of a record found\n(best attack)": ("attacks", "best", "owner"),
    "published (person, topic)\npairs that are true": ("people", "true_pairs"),
    "profiles lost\n(JSD, level 2)": ("people", "jsd_2"),
    "of the 100 most frequent\nqueries published": ("frequent_queries", "coverage"),
}


def cells(row: dict[str, Any]) -> list[str]:
    """One line of the table."""
    people, attacks = row.get("people", {}), row.get("attacks", {})
    best, published, frequent = attacks.get("best"), row["published"], row["frequent_queries"]
    return [
        row["mechanism"],
        row["paper"],
        row["guarantee_text"],
        f"{_share(best['owner'])} ({best['attack']})" if best else "–",
        _share(attacks.get("best_pair")),
        _share(people.get("true_pairs")),
        _share(published["single_issuer_texts"]),
        _share(published["vanity_texts"]),
        _share(published["rows"]),
        _share(published["texts"]),
        *(_number(people.get(key)) for key in ("jsd_1", "jsd_2", "emd")),
        _share(frequent["coverage"]),
        _number(frequent.get("l1")),
        f"{row['cpu_seconds']:.1f}",
    ]


def _share(value: float | None) -> str:
    return "–" if value is None or value != value else f"{100 * value:.1f} %"  # noqa: PLR0124 (NaN)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def figure(rows: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Bars by mechanism: attack success, true topics, loss of profiles, frequent queries kept."""
    names = [f"{row['mechanism']} ({row['paper']})" for row in rows][::-1]
    with pyplot() as plt:
        drawn, axes = plt.subplots(1, len(BARS), figsize=(13, 0.42 * len(rows) + 1.6), sharey=True)
        for number, ((title, path), axis) in enumerate(zip(BARS.items(), axes, strict=True)):
            shown = [_found(row, path) for row in rows][::-1]
            axis.barh(names, np.nan_to_num(np.array(shown)), color=COLOURS[number])
            for place, value in enumerate(shown):
                label = "n/a" if np.isnan(value) else f"{value:.2f}"
                axis.text(np.nan_to_num(value) + 0.01, place, label, va="center", fontsize=7)
            axis.set(title=title, xlim=(0, 1.15))
            axis.tick_params(axis="y", length=0)
        return save(drawn, folder / "all", plt)


def _found(row: dict[str, Any], path: tuple[str, ...]) -> float:
    value: Any = row
    for key in path:
        value = value.get(key, {})
    return float(value) if isinstance(value, int | float) else float("nan")
