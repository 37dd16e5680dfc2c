"""The table: forms × levels × known items; `-o page=FILE` writes it as Markdown."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench import Figure
from bench.privacy.forms import Log, asked, cohorts, owners_found, pairs, split
from proxid.lab.released_log import Release

LEVELS, KNOWN = (1, 2, 4), (0, 3, 10)
HEAD = (
    "| form | level | known items | right | chance | posterior > 1/2 (right) | > 0.9 (right) | shown below the node |\n"
    "|---|---|---|---|---|---|---|---|"
)


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Every cell; options `levels`, `known` and `forms` take lists with commas."""
    log = asked(options)
    forms = options.get("forms", "split,pairs,cohort").split(",")
    levels = [int(level) for level in options.get("levels", "1,2,4").split(",")]
    known = [int(items) for items in options.get("known", "0,3,10").split(",")]
    figures: dict[str, Figure] = {}
    lines = [f"**{log.name}**, epochs of {log.epoch_s} s, buckets of {log.bucket_s} s\n", HEAD]
    for form, level, release in _releases(log, forms, levels):
        for items in known:
            found = owners_found(release, items)
            lines.append(_line(form, level, items, found, len(log.batch)))
            figures[f"{form}_level{level}_known{items}"] = {
                "value": found["right"]["value"], "unit": "of records", "baseline": f"chance {found['chance']:.4f}",
            }  # fmt: skip
            if "page" in options:
                Path(options["page"]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return figures


def _releases(log: Log, forms: list[str], levels: list[int]) -> Iterator[tuple[str, int, Release]]:
    for form in forms:
        for level in levels:
            if form == "split":
                yield form, level, split(log, level)[1]
            else:
                yield form, level, (pairs if form == "pairs" else cohorts)(log, level)


def _line(form: str, level: int, known: int, found: dict[str, Any], records: int) -> str:
    cells = [form, str(level), str(known), _percent(found["right"]["value"]), _percent(found["chance"])]
    for name in ("over_half", "over_nine_tenths"):
        cells.append(f"{_percent(found[name]['share'])} ({_percent(found[name]['right'])})")
    return f"| {' | '.join([*cells, _percent(found['scored'] / records)])} |"


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.2f} %"
