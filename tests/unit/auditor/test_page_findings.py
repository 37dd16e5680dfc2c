"""What the page of a report says of violations, limits and policies."""

import re

import pytest

from auditor.findings import CHECKS, LISTED, Report, Unchecked
from auditor.report.wording import CHECKS as WORDS
from auditor.scope import PolicyScope
from tests.support.report_page import Outline, example, page, part, text_of, violated


def test_violations_say_what_they_mean_where_and_are_escaped() -> None:
    html = page(violated())
    said = part(html, "violations")
    assert WORDS[5].broken in said and "5. Anonymity in groups main service 12 group published RELEASED : group" in said
    assert "main service group published RELEASED : group is <smaller> than k 1 Every violation" in said
    assert "&lt;smaller&gt;" in html and "<smaller>" not in html
    assert "1, found by check 5 (anonymity in groups)" in part(html, "short")


def test_more_violations_than_are_listed_are_counted() -> None:
    report = example()
    for number in range(LISTED + 5):
        report.add(3, "gateway", number, "<b>signature does not hold</b>")
    assert len(report.violations) == LISTED and report.verdict.value == "violation"
    html = page(report)
    assert '<table class="long"><caption>Every violation' in html and "table.long{break-inside:auto}" in html
    assert "5 further violations" in html and "<b>" not in html and ">failed<" in html
    assert "1,005" in part(html, "short") and "1,005" in part(html, "checks")


def test_k_reached_is_shown_by_kind_with_what_was_demanded() -> None:
    said = part(page(example()), "anonymity")
    assert "Search queries 10 10 7 yes" in said and "Location queries 9 11 9 yes" in said
    report = example()
    report.counts["group.size.general.04"] = 1
    assert "Search queries 10 4 1 no" in part(page(report), "anonymity")


def test_a_continued_audit_says_what_its_numbers_are_of() -> None:
    whole = page(example())
    assert "every number is of whole logs" in part(whole, "audited")
    assert "this time" not in part(whole, "checks").partition("A number of")[0] and "arlier audit" not in whole
    report = example(before=2484)
    report.checked_before[3] = 400
    html = page(report)
    said = part(html, "audited")
    assert "entries 2,485 to 2,512" in said and "nothing was added to its 2,484 entries" in said
    assert "Numbers are of the whole of both logs, except where" in said
    assert "Checks made this time In earlier audits" in part(html, "checks")
    assert re.search(r"3\. Genuine messages .* 20 400 0 passed", part(html, "checks"))


def test_it_says_what_was_not_checked() -> None:
    html = page(example())
    assert part(html, "checks").count("nothing to check") == 7 and part(html, "checks").count("passed 0") == 0
    assert "No &lt;witness&gt;." in html
    assert "keeping was over 5" in part(html, "unchecked") and "prove nothing 2" in part(html, "unchecked")
    report = example(pipeline="")
    report.counts["groups.partly_erased"] = 3
    html = page(report)
    assert "was not checked this time" in part(html, "checks") and "But for 3 groups" in part(html, "checks")
    assert "stays checked" in part(html, "unchecked")
    report.checked.update({4: 1, 5: 1})
    assert part(page(report), "checks").count("passed in part") == 2
    assert "in part" not in text_of(page(example()))
    report = example()
    report.counts["entries.partly_checked"] = 2
    report.checked[5] = 1
    html = page(report)
    assert part(html, "checks").count("passed in part") == 1 and "But for 2 portions" in part(html, "checks")
    assert "let them be read 2" in part(html, "unchecked") and "stays checked" in part(html, "unchecked")
    assert report.as_dict()["partly"] == [5]


def test_what_alone_could_not_be_checked_is_named_and_nothing_called_clean() -> None:
    report = example(witnessed=True)
    report.missing.append(Unchecked(1, "gateway", "no head is cosigned by the witness; audit again when it has"))
    html = page(report)
    assert "Not checked in full:" in text_of(html) and "Clean:" not in text_of(html)
    said = "check 1 (unchanged history), gateway's log: no head is cosigned by the witness; audit again when it has."
    assert said in part(html, "short") and said in part(html, "unchecked")
    assert "0 not checked in full 2. Readable" in part(html, "checks")
    report.add(5, "gateway", 1, "wrong")
    assert "Violated:" in page(report) and said in part(page(report), "short")


def test_an_audit_that_could_not_be_made_says_why() -> None:
    html = page(Report(unchecked="a service's log cannot be reached"))
    assert "Reason: a service's log cannot be reached." in text_of(html) and "Not checked:" in html
    assert "passed" not in text_of(html)


def test_policies_stand_by_period_and_the_one_that_demands_least_is_the_measure() -> None:
    assert "Policies, by period" not in page(example())
    rows = [
        PolicyScope(20_716, 20_716, "3fa9" * 16, "accepted", 5, 2),
        PolicyScope(20_717, 20_717, "77aa" * 16, "not accepted"),
    ]
    html = page(example(policies=rows))
    Outline(html)
    words = part(html, "settings")
    assert "3fa93fa93fa93fa9 accepted 5 2" in words and "77aa77aa77aa77aa not accepted unknown unknown" in words
    assert "10 people; 8 demanded (k = 5, margin 2)" in part(html, "short")


def test_each_violation_leads_to_its_story_and_to_what_to_do() -> None:
    report = violated()
    report.add(5, "main-service", 19, "RELEASED: group is <smaller> than k")
    report.add(1, "gateway", 0, "log is shorter than at an earlier audit")
    html = page(report)
    said = part(html, "stories")
    assert html.count('href="#story-0"') == 2 and html.count('id="story-0"') == 1
    for needed in ("Entry 12 of the main service's log records: group published.", "found 2 times",
                   "What to do now: Stop the release", "proxid explain main-service/12 --config auditor.toml",
                   "The gateway's log as a whole"):  # fmt: skip
        assert needed in said, needed


@pytest.mark.parametrize("rule", CHECKS)
def test_there_is_something_to_do_after_a_violation_of_every_check(rule: int) -> None:
    report = example()
    report.add(rule, "gateway", 3, "FORWARDED: something")
    assert "What to do now: " in part(page(report), "stories")


def test_it_says_what_it_shows_by_article_of_the_gdpr() -> None:
    said = part(page(violated()), "articles")
    for needed in (
        "Art. 17 Erasure",
        "Art. 7(3)",
        "Art. 33, 34",
        "1 violation to weigh",
        "violated",
        "no legal opinion",
    ):
        assert needed in said, needed
    assert "violated" not in part(page(example()), "articles")


def test_on_a_phone_each_row_is_a_block_whose_cells_say_their_column() -> None:
    html = page(violated())
    narrow = html.partition("(max-width:40rem){")[2].partition("@page")[0]
    assert "display:block" in narrow and "attr(data-column)" in narrow and "nowrap" not in narrow
    for row in re.findall(r"<tr><th scope=\"row\">.*?</tr>", html, re.S):
        assert all('data-column="' in cell for cell in re.findall(r"<td[^>]*>", row))
