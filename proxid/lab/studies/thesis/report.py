"""What a study leaves in its folder: tables, figures, one page to read (`study.md`), everything as JSON."""

import json
from pathlib import Path
from typing import Any

from proxid.lab.logs.whole import whole_file
from proxid.lab.studies.thesis.beside import beside, excess, mix_verdicts
from proxid.lab.studies.thesis.figures.all import draw_all
from proxid.lab.studies.thesis.mix_table import COLUMNS, mix_rows
from proxid.lab.studies.thesis.plan import Cell
from proxid.lab.studies.thesis.processes import measured
from proxid.lab.studies.thesis.results import Results, percent
from proxid.lab.studies.thesis.tables import csv_text, linkage_rows, markdown, utility_rows

BESIDE = {"figure": "figure", "what": "what", "thesis": "thesis", "measured": "measured", "unit": "unit",
          "remark": "remark"}  # fmt: skip
EXCESS = {"mode": "mode", "k": "k", "level": "ℓ", "claimed_percent": "claimed %", "rl3_percent": "rl3 %",
          "neighbour_percent": "neighbour %", "neighbour_over_claimed": "× claimed",
          "informed_percent": "informed %", "informed_over_claimed": "× claimed",
          "posterior_over_share": "posterior over claim"}  # fmt: skip
UTILITY = {"mode": "mode", "ladder": "ladder", "k": "k", "level": "ℓ", "released_share": "released",
           "delay_records_p50": "delay p50", "delay_records_p99": "delay p99", "emd_loss_n1": "EMD N1",
           "emd_loss_n2": "EMD N2", "emd_loss_n1_unraised": "N1 unraised", "emd_loss_n2_unraised": "N2 unraised",
           "paired_loss_n1": "paired N1", "lost_share": "lost", "true_profile_pairs": "true pairs"}  # fmt: skip
PROCESSES = {"process": "process", "us": "µs a record", "thesis_us": "thesis", "kib": "KiB grown by",
             "thesis_kib": "thesis, whole process"}  # fmt: skip
CONTENT = {"level": "ℓ", "ladder": "ladder", "disclosure-category": "by category %", "disclosure-text": "by text %",
           "claimed": "1/(k+m) %"}  # fmt: skip


def write_report(results: Results, folder: Path) -> list[Path]:
    """Write everything; returns the files. Raises OutputError."""
    found: dict[str, Any] = {"beside": beside(results), "excess": excess(results), "mix": mix_verdicts(results),
             "mix_cells": mix_rows(results), "content": content(results), "processes": processes(results)}  # fmt: skip
    texts = {
        "linkage.csv": csv_text(linkage_rows(results)),
        "utility.csv": csv_text(utility_rows(results)),
        "published.csv": csv_text(found["beside"]),
        "mix.csv": csv_text(found["mix_cells"]),
        "processes.csv": csv_text(found["processes"]),
        "study.json": json.dumps(found, indent=1) + "\n",
    }
    figures = draw_all(results, folder / "figures")
    texts["study.md"] = page(results, found, figures)
    for name, text in texts.items():
        with whole_file(folder / name) as file:
            file.write(text.encode())
    return [*(folder / name for name in texts), *figures]


def processes(results: Results) -> list[dict[str, Any]]:
    """Time and memory of each process of chapter 3, where that is studied."""
    return measured(results.plan.source.seed) if "thesis3" in results.plan.modes else []


def content(results: Results) -> list[dict[str, Any]]:
    """Statistical disclosure on mode mix by level, without and with the ladder."""
    rows = []
    for cell in sorted(results.cells, key=lambda c: (c.ladder, c.level)):
        names = ("disclosure-category", "disclosure-text")
        rates = {name: percent(results.rate(cell, name)) for name in names}
        if cell.mode == "mix" and cell.k == 10 and any(value is not None for value in rates.values()):
            rows.append({"level": cell.level, "ladder": cell.ladder, **rates, "claimed": 100 * cell.mechanism.bound})
    return rows


def page(results: Results, found: dict[str, Any], figures: list[Path]) -> str:
    """The page to read."""
    parts = [
        "# The thesis's study\n",
        _about(results),
        "## Published numbers beside this run\n\n" + markdown(found["beside"], BESIDE),
        _ks(results),
        f"## Mode mix\n\n{_mix(found['mix'])}\n{markdown(found['mix_cells'], COLUMNS)}" if found["mix_cells"] else "",
        "### What published content tells beyond arrivals (mode mix, k = 10)\n\n" + markdown(found["content"], CONTENT)
        if found["content"]
        else "",
        "## How far attacks exceed what is claimed\n\nPer cent of the attacked records, same record.\n\n"
        + markdown(found["excess"], EXCESS),
        "## Processes of chapter 3 (Tables 3.2 and 3.3)\n\n" + markdown(found["processes"], PROCESSES)
        if found["processes"]
        else "",
        "## Utility\n\n" + markdown(utility_rows(results), UTILITY),
        _why_411(results),
        "## Figures\n\n" + "\n".join(f"![{path.stem}](figures/{path.name})\n" for path in figures[::2]),
    ]
    return "\n".join(part for part in parts if part)


def _about(results: Results) -> str:
    source = results.plan.source
    log = "a log given as a file" if source.file else f"a synthetic log (seed {source.seed})"
    users = "" if source.file else f" of at most {source.users:,} people"
    return (
        f"On {log} of {results.records:,} records{users}; modes {', '.join(results.plan.modes)}; "
        f"k in {list(results.plan.ks)}, ℓ in {list(results.plan.levels)}. "
        "`linkage.csv` has every attack on every cell, `utility.csv` what is left.\n\n"
        "Pair linkage is what the thesis counts: the guessed user and the text occur together somewhere in the input, "
        "by coincidence too. Same-record linkage asks for the owner of the very record. Rates over all input take "
        "held records as not linked, so they fall when little is released.\n"
    )


def _ks(results: Results) -> str:
    lines = []
    for attack in ("rl3", "neighbour"):
        test = results.kolmogorov_smirnov(attack)
        if test:
            lines.append(
                f"- {attack}: D = {test['distance']:.3f}, p = {test['p_value']:.4f}, {test['points']} points a side; "
                f"{test['over_1_k']} of them over their own 1/k"
            )
    if not lines:
        return ""
    return (
        "### The Kolmogorov-Smirnov test (figure 4.7), reproduced and no evidence\n\n"
        + "\n".join(lines)
        + "\n\nThe test compares the set of rates with the set of values 1/k: it says nothing about any one k, and may "
        "accept a set in which rates are over their own 1/k. The thesis's p = 0.9977 at D = 0.08 is the exact value "
        "for 50 points a side.\n"
    )


def _mix(mix: dict[str, Any]) -> str:
    verdicts, over, records = mix["verdicts"], mix["records_over_bound"], mix["records"]
    return (
        f"{mix['tests']} tests of an attacker's right guesses inside groups against 1/(n-1), two-sided, clustered by "
        f"group, each at level {mix['level']:.2g}: {verdicts['equal']} equal within 10 %, {verdicts['undecided']} "
        f"undecided for want of records, {verdicts['different']} different. Largest |z| {mix['largest_z']:.2f}.\n\n"
        f"The informed adversary's posterior is over its bound for {over['outsider']} of {records['outsider']:,} "
        f"records as an outsider, for {over['members']} of {records['members']:,} with m members helping.\n"
    )


def _why_411(results: Results) -> str:
    k = 10 if 10 in results.plan.ks else results.plan.ks[0]
    loss = percent(results.get(Cell("thesis", k, 1), "metrics", "emd", "loss_n1"))
    if loss is None:
        return ""
    paired = percent(results.get(Cell("thesis", k, 1), "metrics", "emd", "paired_loss_n1"))
    return (
        f"Figure 4.11 starts at {loss:.1f} % (N1) where the thesis prints 42.03 %. The thesis does not say how it "
        "normalises; N1, by the distance of the two deepest leaves, comes nearest. It also describes the sum of "
        "distances between each query and the one put in its place, not the cheapest matching: that gives "
        f"{paired or 0:.1f} %. What is left depends on how deep a log is filed (AOL's lay at depths 5 to 7 of 13, "
        "thesis §4.4.5.5). The shape is the thesis's: it falls with ℓ, does not depend on k, and is 0 at full depth "
        "for records that left where they began to wait.\n"
    )
