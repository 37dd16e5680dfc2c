"""The study's tables: CSV of everything, Markdown of what matters."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from proxid.lab.studies.thesis.results import Results

Row = dict[str, Any]


def linkage_rows(results: Results) -> list[Row]:
    """A row a cell and attack."""
    return [
        {"mode": cell.mode, "ladder": cell.ladder, "k": cell.k, "level": cell.level, "attack": name, **_linkage(report)}
        for cell, result in results.cells.items()
        for name, report in result["attacks"].items()
        if "same_record" in report
    ]


def _linkage(report: Row) -> Row:
    same, pair = report["same_record"], report["pair_linkage"]
    test = (report.get("groups") or {}).get("test") or {}
    low, high = same["of_attacked"]["ci95"]
    return {
        "guessed": report["guessed"],
        "held_by_mechanism": report["held"]["by_mechanism"],
        "held_by_attacker": report["held"]["by_attacker"],
        "same_of_attacked": same["of_attacked"]["value"],
        "same_low": low,
        "same_high": high,
        "same_of_input": same["of_input"]["value"] if same["of_input"] else None,
        "pair_of_attacked": pair["of_attacked"]["value"],
        "pair_of_input": pair["of_input"]["value"],
        "coincidences": pair["coincidences"],
        "claimed": report["bound"],
        "inside_share": (report.get("groups") or {}).get("inside_share"),
        "test_rate": test.get("rate"),
        "test_expected": test.get("expected"),
        "test_z": test.get("z"),
        "test_p": test.get("p_value"),
        "test_margin": test.get("margin"),
        "verdict": test.get("verdict"),
        "posterior_max": (report.get("posterior") or {}).get("posterior_max"),
        "over_bound": (report.get("posterior") or {}).get("over_bound"),
    }


def utility_rows(results: Results) -> list[Row]:
    """A row a cell: share, delay, |Q|, EMD, JSD, time, memory."""
    rows = []
    for cell, result in results.cells.items():
        metrics, cost = result["metrics"], result.get("cost", {}).get("anonymiser", {})
        emd, delay = metrics["emd"], metrics["delay"]
        rows.append(
            {
                "mode": cell.mode,
                "ladder": cell.ladder,
                "k": cell.k,
                "level": cell.level,
                "released_share": metrics["share"]["released_share"],
                "true_profile_pairs": metrics["share"]["true_profile_pairs"],
                **{f"delay_records_{name}": delay.get("records", {}).get(name) for name in ("mean", "p50", "p99")},
                **{f"delay_s_{name}": delay.get("seconds", {}).get(name) for name in ("mean", "p50", "p99")},
                "final_q_active_mean": metrics["buffers"]["final_q_active_mean"],
                "emd_loss_n1": emd.get("loss_n1"),
                "emd_loss_n2": emd.get("loss_n2"),
                "emd_loss_n1_unraised": emd.get("unraised", {}).get("loss_n1"),
                "emd_loss_n2_unraised": emd.get("unraised", {}).get("loss_n2"),
                "paired_loss_n1": emd.get("paired_loss_n1"),
                "lost_share": emd.get("lost_share"),
                "jsd_full": metrics["jsd"].get("full"),
                "us_columns": cost.get("us"),
                "us_one_record": cost.get("one_record_us"),
                "most_bytes": cost.get("most_bytes"),
            }
        )
    return rows


def csv_text(rows: Sequence[Row]) -> str:
    """Rows as CSV with a header; missing values are empty."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return out.getvalue()


def markdown(rows: Sequence[Row], columns: dict[str, str]) -> str:
    """Some columns of rows as a Markdown table; `columns` gives each its heading."""
    lines = ["| " + " | ".join(columns.values()) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(row.get(name)) for name in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 (NaN)
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
