"""`study all` on a terminal: every figure of every mechanism, none cut, in eighty columns."""

import io
from typing import Any

from rich.console import Console

from proxid.lab.studies.comparison_report import COLUMNS, LEGEND, cells, printed
from proxid.lab.studies.entries import entries

ROW: dict[str, Any] = {
    "guarantee_text": "(4, 1.67e-04)-DP a user", "cpu_seconds": 123.4,
    "attacks": {"best": {"owner": 0.1234, "attack": "group-busiest"}, "best_pair": 0.25, "links": {"leaf": 0.0}},
    "people": {"true_pairs": 1.0, "jsd_1": 0.111, "jsd_2": 0.222, "emd": 0.333},
    "published": {"single_issuer_texts": 0.5, "vanity_texts": 0.125, "rows": 1.0, "texts": 1.0},
    "tasks": {
        "frequent": {"coverage": 0.99}, "caching": 0.444, "substitution": {"map": 0.555, "coverage": 0.666},
        "suggestion": {"own": {"precision_at_5": 0.777}, "common": {"precision_at_5": 0.888}},
    },
}  # fmt: skip


def test_eighty_columns_hold_every_figure_whole() -> None:
    rows = [ROW | {"mechanism": entry.label, "paper": entry.paper} for entry in entries(3000, 2.0)]
    console = Console(width=80, record=True, file=io.StringIO())
    printed(rows, console)
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 80
    for row in rows:
        named = [line for line in lines if line.strip().startswith(row["mechanism"])]
        for column, cell in zip(COLUMNS, cells(row), strict=True):
            assert any(cell in line for line in named), (row["mechanism"], column, cell)
    assert all(any(name in line for line in lines) for name in LEGEND)
