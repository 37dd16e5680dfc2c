"""The table: logs × forms × levels × known items; `-o page=FILE` writes docs/results/privacy.md with it."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from bench import Figure
from bench.privacy.forms import Log, asked, cohorts, owners_found, pairs, split
from bench.privacy.page import Page
from proxid.lab.released_log import Release

FORMS, LEVELS, KNOWN = "split,pairs,cohort", "1,2,4", "0,3,10"
LOGS: Final[tuple[Mapping[str, str], ...]] = (
    {},
    {"users": "300", "seed": "21", "days": "66", "epoch": "86400", "bucket": "21600"},
    {"log": "massive"},
)
"""Options of each log; of one's own (`rows`, `users`, `log`) there is that log alone."""
OWN: Final = frozenset({"rows", "users", "seed", "days", "log"})
HEAD = (
    "| form | level | known items | right | chance | posterior > 1/2 (right) | > 0.9 (right) | statements ≥ 0.9 (right)"
    " | shown below the node |\n|---|---|---|---|---|---|---|---|---|"
)


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Every cell; options `levels`, `known` and `forms` take lists with commas."""
    figures: dict[str, Figure] = {}
    page = Page(options.get("page"))
    for chosen in [options] if OWN & options.keys() else LOGS:
        log = asked(chosen)
        page.add(f"**{log.name}**, epochs of {log.epoch_s} s, buckets of {log.bucket_s} s\n", HEAD)
        for form, level, release in _releases(log, options):
            for items in map(int, options.get("known", KNOWN).split(",")):
                found = owners_found(release, items)
                page.add(line(form, level, items, found, len(log.batch)))
                if not found.get("scored"):  # the log's categories end at the node: nothing stands below it
                    continue
                figures[f"{form}_level{level}_known{items}_{log.name}"] = {
                    "value": found["right"]["value"], "unit": "of records",
                    "baseline": f"chance {found['chance']:.4f}",
                }  # fmt: skip
        page.add("")
    page.finish()
    return figures


def _releases(log: Log, options: Mapping[str, str]) -> Iterator[tuple[str, int, Release]]:
    for form in options.get("forms", FORMS).split(","):
        for level in map(int, options.get("levels", LEVELS).split(",")):
            if form == "split":
                yield form, level, split(log, level)[1]
            else:
                yield form, level, (pairs if form == "pairs" else cohorts)(log, level)


def line(form: str, level: int, known: int, found: dict[str, Any], records: int) -> str:
    """A row of the page; what `em` found, or nothing where no record shows anything below the node."""
    if not found.get("scored"):
        return f"| {form} | {level} | {known} | – | – | – | – | – | 0.00 % |"
    cells = [form, str(level), str(known), _percent(found["right"]["value"]), _percent(found["chance"])]
    for name in ("over_half", "over_nine_tenths"):
        cells.append(f"{_percent(found[name]['share'])} ({_percent(found[name]['right'])})")
    said = found["statements"]["attack"]
    cells.append(f"{_percent(said['made'] / max(found['scored'], 1))} ({_percent(said['right'])})")
    return f"| {' | '.join([*cells, _percent(found['scored'] / records)])} |"


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.2f} %"
