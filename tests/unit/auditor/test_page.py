"""The report to read: what it must say, and that a screen reader and a printer can do with it."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest

from auditor.config import AuditorConfig
from auditor.findings import CHECKS, LISTED, Report, Unchecked
from auditor.report.page import render
from auditor.report.wording import ACCESS, DROPPED, EVENTS, GLOSSARY, RIGHTS, UNCHECKED, WITHHELD
from auditor.report.wording import CHECKS as WORDS
from auditor.scope import LogScope, PolicyScope, Scope
from main_service.intake import NotLogged
from proxid import __version__
from proxid.anonymise.mix.types import Reason
from proxid.anonymise.slotted.types import SlotReason
from proxid.anonymise.split.types import SplitReason
from proxid.evidence.events import EventType
from proxid.protocol.rights import Right
from proxid.runtime.config.anonymiser import AnonymiserConfig
from proxid.runtime.config.policy import Policy
from proxid.runtime.observability.metrics import REASONS

NOW = 1_790_000_000.0
ROOT = "tIcZB2nZYDQE94pxGg+9zol36tXE/Upo9w1DtGHCAm8="
VOID = {"meta", "br", "hr"}


def config(**changes: Any) -> AuditorConfig:
    policy = Policy.model_validate(
        {"parties": ["acme"], "bundles": {"everything": {"acme": {"types": ["general", "command"], "as": "alias"}}}}
    )
    values: dict[str, Any] = {
        "name": "auditor",
        "service": "trial-9",
        "anonymiser": AnonymiserConfig(k=7, sybil_margin=2, level=4),
    }
    return AuditorConfig.model_construct(**{**values, "policy": policy, **changes})


def scope(before: int = 0, **changes: Any) -> Scope:
    logs = {
        name: LogScope(f"proxid/trial-9/{name}", f"{name}KEY=", before, size, ROOT, (1_789_999_000, size))
        for name, size in (("gateway", 2512), ("main-service", 2484))
    }
    values: dict[str, Any] = {
        "started": NOW - 60,
        "requests": (1_789_990_000_000, 1_789_999_000_000),
        "epochs": (20_717, 20_717),
    }
    return Scope(logs, **{**values, "people": 59, "pipeline": "rules-3", **changes})


def example(**changes: Any) -> Report:
    report = Report(scope=scope(**changes))
    report.checked.update({1: 4, 3: 20})
    report.counts.update({
        "group.size.general.10": 3, "group.size.location.11": 1, "consent.20717.everything": 9, "requests": 100,
        "received": 100, "released": 41, "waiting": 8, "withheld.restriction": 12, "withheld.too_few": 38,
        "withheld.access": 1, "receipts.unproven": 2, "parts.expired": 5, "groups": 4, "dropped": 6,
        "dropped.erased": 6,
        "gateway.FORWARDED": 100, "main-service.BUFFERED": 49, "rights.access": 1, "rights.consent": 9,
    })  # fmt: skip
    report.remarks.append("No <witness>.")
    return report


def page(report: Report, **changes: Any) -> str:
    return render(report, config(**changes), NOW)


def text_of(html: str) -> str:
    """What is read aloud: the page without tags, one space between words."""
    body = re.sub(r"<style>.*?</style>", "", html, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def part(html: str, name: str) -> str:
    """The words of one section."""
    found = re.search(rf'<section aria-labelledby="{name}">(.*?)</section>', html, re.S)
    assert found is not None, name
    return text_of(found[1])


class Outline(HTMLParser):
    """Parses a page strictly: every element is closed in order; collects what accessibility rests on."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[int] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.labels: list[str] = []
        self.tables: list[list[list[tuple[str, str]]]] = []
        self.captions: list[str] = []
        self.attributes: dict[str, dict[str, str | None]] = {}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.attributes.setdefault(f"{tag}:{values.get('name', '')}" if tag == "meta" else tag, values)
        self.ids += [values["id"]] if values.get("id") else []  # type: ignore[list-item]
        self.labels += [values["aria-labelledby"]] if "aria-labelledby" in values else []  # type: ignore[list-item]
        assert "style" not in values and not any(name.startswith("on") for name in values)
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "a":
            self.links.append(str(values["href"]))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in {"th", "td"}:
            self.tables[-1][-1].append((tag, str(values.get("scope", ""))))
        if tag == "caption":
            assert self.open[-1] == "table"
            self.captions.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "caption":
            self.captions[-1] += data


def violated() -> Report:
    report = example()
    report.add(5, "main-service", 12, "RELEASED: group is <smaller> than k")
    return report


@pytest.mark.parametrize(
    "report", [example(), example(before=100), violated(), Report(), Report(unchecked="a log is away")],
    ids=["clean", "continued", "violated", "empty", "unchecked"],
)  # fmt: skip
def test_a_screen_reader_finds_its_way(report: Report) -> None:
    html = page(report)
    seen = Outline(html)
    assert html.startswith("<!doctype html>") and seen.attributes["html"]["lang"] == "en"
    assert "width=device-width" in str(seen.attributes["meta:viewport"]["content"])
    assert seen.headings[0] == 1 and seen.headings.count(1) == 1 and set(seen.headings[1:]) == {2}
    assert len(set(seen.ids)) == len(seen.ids) and set(seen.labels) <= set(seen.ids)
    contents, within = seen.links[: len(seen.labels)], seen.links[len(seen.labels) :]
    assert [link.removeprefix("#") for link in contents] == seen.labels
    assert {link.removeprefix("#") for link in within} == set(seen.ids) - set(seen.labels)
    assert len(seen.captions) == len(seen.tables) == len(set(seen.captions)) and all(seen.captions)
    for head, *rows in seen.tables:
        assert head == [("th", "col")] * len(head) and rows
        for row in rows:
            assert row[0] == ("th", "row") and {cell for cell, _ in row[1:]} == {"td"} and len(row) == len(head)


def test_nothing_is_loaded_and_no_colour_speaks() -> None:
    html = page(violated())
    assert not re.search(r"<script|<img|<svg|<link|https?://|src=|@import|url\(", html)
    style = re.search(r"<style>(.*?)</style>", html, re.S)
    assert style is not None
    assert not re.search(r"(?<!-)(?:background|color):(?!inherit)", style[1])
    assert "Violated:" in text_of(html) and "failed" in part(html, "checks")


def test_it_prints_without_cut_rows_and_repeats_the_heads_of_tables() -> None:
    printed = page(example()).partition("@media print{")[2]
    assert re.search(r"[},]tr[^{]*\{break-inside:avoid\}", printed)
    assert "thead{display:table-header-group}" in printed and "break-after:avoid" in printed


def test_it_says_who_was_audited_when_how_and_in_which_state() -> None:
    html = page(example(witnessed=True))
    said = part(html, "audited")
    for needed in ("proxid/trial-9/gateway", "proxid/trial-9/main-service", "2,512", "2,484", ROOT, "gatewayKEY=",
                   f"proxid {__version__}", "2026-09-21 14:12:20 UTC to 2026-09-21 14:13:20 UTC",
                   "2026-09-21 11:26:40 UTC and 2026-09-21 13:56:40 UTC", "1 epoch of 1 day", "59"):  # fmt: skip
        assert needed in said, needed
    assert "trial-9" in text_of(html).partition("In short")[0]
    figures = part(html, "settings")
    for needed in ("(k) k 7", "(margin) sybil_margin 2", "k + 1 + margin 10", "(level) level 4", "rules-3"):
        assert needed in figures, needed
    assert part(page(example(), require_witness=True, witness_lag=3600.0), "settings").count("at most 1 hour old") == 1


def test_an_exported_folder_is_not_called_the_services() -> None:
    report = example()
    assert "running services" in part(page(report), "audited")
    log = report.scope.logs["gateway"]
    report.scope.logs["gateway"] = LogScope(log.origin, log.key, 0, log.size, log.root, None, NOW - 3600)
    said = part(page(report), "audited")
    assert "exported on 2026-09-21 13:13:20 UTC" in said and "running services" not in said


def test_it_names_the_outside_witnesses_or_what_could_not_be_shown_without() -> None:
    alone = part(page(example()), "outside")
    assert "No witness took part" in alone and "everybody the same log" in alone
    assert "No receipts of devices" in alone and "No receipts of third parties" in alone and "keep silent" in alone
    assert "No witness's countersignature was demanded." in part(page(example()), "checks")
    report = example(witnessed=True, known=2)
    report.checked[9] = 12
    report.counts.update({"receipts.compared.response": 9, "receipts.compared.acknowledgement": 3})
    html = page(report)
    said = part(html, "outside")
    assert "countersigned 2,512 entries of the gateway's log on 2026-09-21 13:56:40 UTC" in said
    assert "answers they received 9" in said and "groups they confirmed 3" in said
    assert "2 signed states" in said and "2 presented receipts" in said
    assert "No witness took part" not in said and "No receipts" not in said
    assert "countersigned both logs, as was demanded" in part(html, "checks")
    assert "alone" not in text_of(html)
    report.counts["receipts.compared.acknowledgement"] = 0
    said = part(page(report), "outside")
    assert "No receipts of third parties" in said and "No receipts of devices" not in said


def test_a_demanded_countersignature_that_is_not_there_is_not_claimed() -> None:
    report = example(witnessed=True)
    log = report.scope.logs["gateway"]
    report.scope.logs["gateway"] = LogScope(log.origin, log.key, 0, log.size, log.root)
    report.add(1, "gateway", 0, "no head is cosigned by the witness")
    html = page(report)
    assert "nothing valid for the gateway's log" in part(html, "outside")
    assert "failed" in part(html, "checks")


def test_the_consent_timeline_says_who_is_left_out() -> None:
    report = example()
    said = part(page(report), "consent")
    assert "2026-09-21 00:00:00 UTC 2026-09-22 00:00:00 UTC everything 9" in said and "Nobody is left out" in said
    assert "everything acme search queries, commands under a substitute name" in said
    report.counts.update({"rights.erase": 2, "consents.unreadable": 5})
    said = part(page(report), "consent")
    assert "2 erased people are left out" in said and "5 choices of consent could not be read: erasure" in said
    continued = example(before=10)
    continued.counts["rights.erase"] = 1
    assert "earlier audit read before an erasure are still counted" in part(page(continued), "consent")


def test_requests_for_own_data_are_rights_and_not_withheld() -> None:
    html = page(example())
    said = part(html, "requests")
    assert "passed on 99" in said and "withheld or removed, for the reasons below 50" in said
    assert "not yet dealt with when the logs were read 0" in said and "Not counted here: 1 request" in said
    assert re.search(r"\baccess\b", said) is None
    rights = part(html, "rights")
    assert re.search(r"data access 1\b", rights) and re.search(r"object 0\b", rights)


def test_reasons_are_sentences_with_their_key_beside() -> None:
    html = page(example())
    assert f"{WITHHELD['too_few']} too_few 38" in part(html, "requests")
    assert f"{DROPPED['erased']} erased 6" in part(html, "deliveries")


def test_every_key_has_words() -> None:
    reasons = {reason.value for kind in (NotLogged, Reason, SlotReason, SplitReason) for reason in kind} | REASONS
    assert reasons - {ACCESS} <= set(WITHHELD)
    assert {kind.value for kind in EventType} == set(EVENTS)
    assert {right.value for right in Right} <= set(RIGHTS)
    assert set(WORDS) == set(CHECKS)
    assert all(text[-1] == "." for text in [*WITHHELD.values(), *DROPPED.values()])


def test_no_jargon_stands_alone() -> None:
    """Technical terms are in parentheses, in a key, or explained in the glossary."""
    report = example(witnessed=True)
    report.counts.update(dict.fromkeys(UNCHECKED, 3) | {f"withheld.{name}": 1 for name in WITHHELD})
    html = re.sub(r"<code[^>]*>.*?</code>", "", page(report))
    said = re.sub(r"\([^)]*\)", "", text_of(html.partition('<section aria-labelledby="glossary">')[0]))
    for term in ("BUFFERED", "LINKED", "PROX_ID", "leaf", "leaves", "payload", "pipeline", "bundle", "epoch_",
                 "sanitiz", "Merkle", "commit", "replay", "cosign"):  # fmt: skip
        assert term not in said, term
    assert len(GLOSSARY) >= 15 and list(GLOSSARY) == sorted(GLOSSARY, key=str.lower)


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
