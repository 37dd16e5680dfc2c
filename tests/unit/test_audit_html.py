"""The report to read: every table has a caption and header cells, headings follow one another, nothing is loaded."""

import re

from auditor.html import render
from auditor.report import LISTED, Report

NOW = 1_790_000_000.0


def page(report: Report) -> str:
    return render(report, NOW, 10, 86_400.0)


def example() -> Report:
    report = Report()
    report.checked.update({1: 4, 3: 20})
    report.counts.update({"group.size.general.12": 3, "group.size.location.11": 1, "consent.20700.everything": 9})
    report.counts.update({"withheld.restriction": 12, "receipts.unproven": 2, "parts.expired": 5})
    report.remarks.append("No <witness>.")
    return report


def test_tables_have_captions_and_header_cells_and_headings_follow_in_order() -> None:
    text = page(example())
    tables = re.findall(r"<table>(.*?)</table>", text)
    assert tables
    for table in tables:
        assert table.startswith("<caption>") and 'scope="col"' in table and 'scope="row"' in table
        columns = table.count('scope="col"')
        assert all(len(re.findall(r"<t[hd]", row)) == columns for row in re.findall(r"<tr>(.*?)</tr>", table))
    captions = re.findall(r"<caption>(.*?)</caption>", text)
    assert len(set(captions)) == len(captions)
    levels = [int(level) for level in re.findall(r"<h(\d)>", text)]
    assert levels[0] == 1 and set(levels[1:]) == {2}
    assert not re.search(r"<script|<img|https?://|src=|@import", text)


def test_it_says_what_was_not_checked_and_when_consents_were_given() -> None:
    text = page(example())
    assert text.count("nothing to check") == 7 and text.count(">passed<") == 2
    assert "2026-09-04 00:00 UTC" in text and "epoch" not in text
    assert "No &lt;witness&gt;." in text
    for count in ("2", "5"):
        assert f'<td class="n">{count}</td>' in text


def test_more_violations_than_are_listed_are_counted() -> None:
    report = example()
    for number in range(LISTED + 5):
        report.add(3, "gateway", number, "<b>signature does not hold</b>")
    assert len(report.violations) == LISTED and report.verdict.value == "violation"
    text = page(report)
    assert "5 further violations" in text and "<b>" not in text and ">failed<" in text


def test_an_audit_that_could_not_be_made_says_why() -> None:
    assert "Reason: a service&#x27;s log cannot be reached." in page(
        Report(unchecked="a service's log cannot be reached")
    )
