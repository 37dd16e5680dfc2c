"""The comparison of `study all` as a table of cells and as a figure."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from proxid.lab.studies.plots import COLOURS, pyplot, save

COLUMNS = (
    "mechanism", "paper", "guarantee", "owner found", "person+text", "leaf words", "joined",
    "true topics", "1-issuer texts", "vanity", "rows",
    "texts", "JSD L1", "JSD L2", "EMD", "top 100", "caching", "MAP", "subst. cov.", "P@5", "P@5 common", "CPU s",
)  # fmt: skip
PARTS = {
    "every mechanism on one log": ("guarantee", "CPU s"),
    "who is found": ("owner found", "person+text"),
    "what else is told": ("leaf words", "joined", "true topics", "1-issuer texts", "vanity"),
    "what is left": ("rows", "texts", "JSD L1", "JSD L2", "EMD"),
    "what it is good for": ("top 100", "caching", "MAP", "subst. cov.", "P@5", "P@5 common"),
}
"""Tables that fit a terminal: title and columns, each beside the mechanism; the first has the paper too."""
LEGEND = {
    "guarantee": "for one user replaced, and one release; ZEALOUS and partition release each kind of items alone",
    "owner found": "best attack of the log lab that names the owner of a published record, with the attack's name",
    "person+text": "best attack's guesses in which that person issued that text",
    "leaf words": "records whose category path says a word of the text that too few people's do",
    "joined": "person-days that two parties of one audience join by (node, time); links by time alone are in the JSON",
    "true topics": "published (person, full category) pairs that are true of the person",
    "1-issuer texts": "texts that one person alone issued and that are published as they were",
    "vanity": "the same for texts issued more than once",
    "rows": "published rows over records of the log",
    "texts": "distinct texts of the log that are published",
    "JSD L1, L2": "divergence of people's profiles at levels 1 and 2 (1: lost)",
    "EMD": "people's profiles over the tree, in parts of its widest distance",
    "top 100": "of the 100 most frequent queries, those published, alone or in a click or a sequence",
    "caching": "hits of an index cache filled by the release, relative to one filled by the log",
    "MAP, subst. cov.": "query substitution against the log's own, five best: MAP, and queries with an answer",
    "P@5": "query suggestion on later sessions, those it answers; common: those that all answer",
}
COST = "processor time, s"
BARS = {
    "owner of a record found\n(best attack)": ("attacks", "best", "owner"),
    "published (person, topic)\npairs that are true": ("people", "true_pairs"),
    "profiles lost\n(JSD, level 2)": ("people", "jsd_2"),
    "of the 100 most frequent\nqueries published": ("tasks", "frequent", "coverage"),
    COST: ("cpu_seconds",),
}


def cells(row: dict[str, Any]) -> list[str]:
    """One line of the table."""
    people, attacks, tasks = row.get("people", {}), row.get("attacks", {}), row["tasks"]
    best, published = attacks.get("best"), row.get("published", {})
    suggestion, substitution = tasks.get("suggestion", {}), tasks.get("substitution", {})
    return [
        row["mechanism"],
        row.get("paper", ""),
        row.get("guarantee_text", ""),
        f"{_share(best['owner'])} ({best['attack']})" if best else "–",
        _share(attacks.get("best_pair")),
        *(_share(attacks.get("links", {}).get(key)) for key in ("leaf", "join")),
        _share(people.get("true_pairs")),
        *(_share(published.get(key)) for key in ("single_issuer_texts", "vanity_texts", "rows", "texts")),
        *(_number(people.get(key)) for key in ("jsd_1", "jsd_2", "emd")),
        _share(tasks.get("frequent", {}).get("coverage")),
        _share(tasks.get("caching")),
        _number(substitution.get("map")),
        _share(substitution.get("coverage")),
        *(_number(suggestion.get(key, {}).get("precision_at_5")) for key in ("own", "common")),
        f"{row['cpu_seconds']:.1f}" if "cpu_seconds" in row else "",
    ]


def printed(rows: list[dict[str, Any]], console: Console) -> None:
    """The table in parts that a terminal of 80 columns shows whole, and what the columns mean."""
    lines = [dict(zip(COLUMNS, cells(row), strict=True)) for row in rows]
    for title, columns in PARTS.items():
        names = ("mechanism", *(("paper",) if "guarantee" in columns else ()), *columns)
        table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), title=title, title_justify="left")
        for name in names:
            left = name in COLUMNS[:3]
            heading, wraps = name.replace(" ", "\n"), name == "guarantee"
            table.add_column(heading, justify="left" if left else "right", no_wrap=not wraps, overflow="fold")
        for line in lines:
            table.add_row(*(line[name] for name in names))
        console.print(table)
    for name, meaning in LEGEND.items():
        console.print(f"  {name}: {meaning}", highlight=False)


def _share(value: float | None) -> str:
    return "–" if value is None or value != value else f"{100 * value:.1f} %"  # noqa: PLR0124 (NaN)


def _number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.3f}"  # noqa: PLR0124 (NaN)


def figure(rows: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Bars by mechanism, named with its guarantee: attack, true topics, loss of profiles, frequent queries, cost."""
    rows = [row for row in rows if "published" in row]
    names = [f"{row['mechanism']} ({row['paper']})\n{row['guarantee_text']}" for row in rows][::-1]
    most = max((row["cpu_seconds"] for row in rows), default=1.0)
    with pyplot() as plt:
        drawn, axes = plt.subplots(1, len(BARS), figsize=(16, 0.48 * len(rows) + 1.6), sharey=True)
        for number, ((title, path), axis) in enumerate(zip(BARS.items(), axes, strict=True)):
            shown = [_found(row, path) for row in rows][::-1]
            axis.barh(names, np.nan_to_num(np.array(shown)), color=COLOURS[number])
            widest = most if title == COST else 1.0
            for place, value in enumerate(shown):
                label = "n/a" if np.isnan(value) else f"{value:.2f}"
                axis.text(np.nan_to_num(value) + 0.01 * widest, place, label, va="center", fontsize=7)
            axis.set(title=title, xlim=(0, 1.15 * widest))
            axis.tick_params(axis="y", length=0)
        return save(drawn, folder / "all", plt)


def _found(row: dict[str, Any], path: tuple[str, ...]) -> float:
    value: Any = row
    for key in path:
        value = value.get(key, {})
    return float(value) if isinstance(value, int | float) else float("nan")
