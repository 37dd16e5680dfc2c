"""The audit's report as one self-contained page, for a data-protection officer (DESIGN 10.4).

No script, no image, nothing loaded: headings, tables with captions and header cells, words where colour is used,
so that a screen reader reads it and it prints.
"""

import html
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from auditor.report import CHECKS, Report, Verdict

_STYLE: Final = """
:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem}
table{border-collapse:collapse;width:100%;margin:.5rem 0 1rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{border:1px solid #8886;padding:.3rem .6rem;text-align:left;vertical-align:top}
td.n{text-align:right;font-variant-numeric:tabular-nums}
.verdict{border:2px solid;padding:.6rem 1rem;font-size:1.2rem;font-weight:600}
@page{margin:18mm}
@media print{:root{color-scheme:light}body{max-width:none;margin:0;padding:0;font-size:10pt}
h2,caption{break-after:avoid}tr{break-inside:avoid}thead{display:table-header-group}}
"""

_VERDICTS: Final = {
    Verdict.CLEAN: "Clean: nothing that was checked contradicts what the services claim.",
    Verdict.VIOLATION: "Violated: at least one check failed. Every failure is listed below.",
    Verdict.UNCHECKED: "Not checked: the evidence could not be read.",
}

_WITHHELD: Final = {
    "no_consent": "the person allowed nobody to receive it",
    "rejected": "the classifier was not sure what it was",
    "no_category": "it fits no category",
    "no_place": "it names no usable place",
    "no_shape": "it is no command that can be generalised",
    "unprocessable": "identifiers could not be removed for certain, or it was too long",
    "classifier_failed": "the classifier failed",
    "capped": "the person had too much waiting",
    "repeated": "the person had said the same before",
    "slot_quota": "the person had a record in the same time slot",
    "expired": "too few people asked alike in time",
    "epoch_end": "the epoch ended before enough people asked alike",
    "epoch_over": "it came after the end of its epoch",
    "withdrawn": "the person withdrew consent",
    "consent_changed": "the person's consent changed on the way",
    "erased": "the person was erased",
    "restriction": "the main service's last check refused the group; ask its operator why",
    "place_budget": "the person had reported as many places as the privacy budget allows",
    "access": "it was a request to see one's own data",
}

_KINDS: Final = {"general": "query", "location": "place", "command": "command"}


def render(report: Report, now: float, k: int, epoch_seconds: float = 86_400.0) -> str:
    """The page; `now` in Unix seconds, `k` the anonymity parameter that MS was held to."""
    verdict = _VERDICTS[report.verdict]
    body = [
        "<h1>Audit of a privacy gateway</h1>",
        f"<p>Made {_moment(now)} from the evidence of both services alone.</p>",
        f'<p class="verdict">{verdict}</p>',
        _unchecked(report), _checks(report), _violations(report), _remarks(report), _fates(report),
        _groups(report, k), _deliveries(report), _consents(report, epoch_seconds), _erased(report), _events(report),
    ]  # fmt: skip
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
    title = f"<title>Audit report: {report.verdict.value}</title>"
    page = f"<body><main>{''.join(body)}</main></body>"
    return f'<!doctype html><html lang="en"><head>{title}{head}</head>{page}</html>\n'


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def _unchecked(report: Report) -> str:
    return f"<p>Reason: {html.escape(report.unchecked)}.</p>" if report.unchecked else ""


def _remarks(report: Report) -> str:
    if not report.remarks:
        return ""
    items = "".join(f"<li>{html.escape(text)}</li>" for text in report.remarks)
    return f"<h2>What was not asked for</h2><ul>{items}</ul>"


def _table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in columns)
    lines = "".join(f"<tr>{_row(row)}</tr>" for row in rows)
    if not lines:
        return f"<p>{html.escape(caption)}: none.</p>"
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    )


def _row(row: Sequence[object]) -> str:
    first, *rest = row
    cells = [f'<th scope="row">{_cell(first)}</th>']
    cells += [f'<td class="n">{_cell(c)}</td>' if isinstance(c, int) else f"<td>{_cell(c)}</td>" for c in rest]
    return "".join(cells)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else html.escape(str(value))


def _checks(report: Report) -> str:
    rows = []
    for rule, what in CHECKS.items():
        broken = sum(1 for v in report.violations if v.rule == rule)
        before = report.checked_before[rule]
        done = report.checked[rule] + before
        result = "failed" if broken else "passed" if done else "nothing to check"
        rows.append((str(rule), what, report.checked[rule], before, broken, result))
    columns = ("Check", "What was checked", "Checked now", "Checked before", "Violations", "Result")
    return "<h2>What was checked</h2>" + _table("The nine checks", columns, rows)


def _violations(report: Report) -> str:
    rows = [(f"{v.rule}", v.log, v.event or "the log as a whole", v.text) for v in report.violations]
    unlisted = sum(count for _, count in _counted(report, "unlisted."))
    more = f"<p>{unlisted:,} further violations of the same checks are not listed.</p>" if unlisted else ""
    text = "<p>A leaf is the number of the event in the service's log.</p>" if rows else ""
    table = _table("Every violation, by check", ("Check", "Log", "Leaf", "What is wrong"), rows)
    return "<h2>Violations</h2>" + text + table + more


def _counted(report: Report, prefix: str) -> list[tuple[str, int]]:
    found = [(n.removeprefix(prefix), c) for n, c in sorted(report.counts.items()) if n.startswith(prefix)]
    return [(name, count) for name, count in found if count]


def _fates(report: Report) -> str:
    counts = report.counts
    rows = [
        ("asked", counts["requests"]), ("received by the main service", counts["received"]),
        ("released in a group", counts["released"]), ("waiting for a group", counts["waiting"]),
    ]  # fmt: skip
    withheld = [(reason, _WITHHELD.get(reason, ""), n) for reason, n in _counted(report, "withheld.")]
    return (
        "<h2>What became of requests</h2>" + _table("Requests", ("Requests", "Number"), rows)
        + _table("Withheld and suppressed, by reason", ("Reason", "Meaning", "Number"), withheld)
    )  # fmt: skip


def _groups(report: Report, k: int) -> str:
    rows = []
    for name, count in _counted(report, "group.size."):
        kind, _, size = name.partition(".")
        rows.append((_KINDS.get(kind, kind), int(size), int(size) - 1, count))
    text = (
        f"<p>A group of queries must have more than {k} people: at least {k} others could have asked each text. "
        f"Places and commands keep their person, under a name of the day; at least {k} people share place and time.</p>"
    )
    return "<h2>Anonymity reached</h2>" + text + _table(
        "Groups by kind and size", ("Kind", "People in the group", "Others in the group", "Groups"), rows
    )  # fmt: skip


def _deliveries(report: Report) -> str:
    counts = report.counts
    rows = [("delivered and acknowledged", counts["deliveries"]), ("pending", counts["pending"])]
    dropped = _counted(report, "dropped.")
    return (
        "<h2>Deliveries to third parties</h2>" + _table("Groups, once a party", ("State", "Number"), rows)
        + _table("Groups dropped whole, by reason", ("Reason", "Number"), dropped)
    )  # fmt: skip


def _consents(report: Report, epoch_seconds: float) -> str:
    rows = []
    for name, count in _counted(report, "consent."):
        epoch, _, bundle = name.partition(".")
        rows.append((_moment(int(epoch) * epoch_seconds), bundle, count))
    columns = ("Period that begins", "Bundle", "Times chosen")
    return "<h2>Consent timeline</h2>" + _table("How often each bundle of consents was chosen", columns, rows)


def _erased(report: Report) -> str:
    counts = report.counts
    rows = [
        ("payloads that erasures made unreadable", counts["parts.erased"]),
        ("payloads whose time of keeping is over", counts["parts.expired"]),
        ("events of which nothing could be read", counts["events.unreadable"]),
        ("groups checked by their shape alone", counts["groups.partly_erased"]),
        ("records made by a pipeline that is not at hand", counts["pipeline.unknown"]),
        ("receipts that these services or parties did not sign", counts["receipts.unproven"]),
    ]  # fmt: skip
    return "<h2>What could not be checked</h2>" + _table("Counted, not guessed", ("What", "Number"), rows)


def _events(report: Report) -> str:
    logs = ("gateway", "main-service")
    rows = [(log, kind, count) for log in logs for kind, count in _counted(report, f"{log}.")]
    return "<h2>Events</h2>" + _table("Events by type", ("Log", "Event", "Number"), rows)
