"""The report to read: what it must say, and that a screen reader and a printer can do with it."""

import re

import pytest

from auditor.findings import CHECKS, Report
from auditor.report.wording import ACCESS, DROPPED, EVENTS, GLOSSARY, RIGHTS, UNCHECKED, WITHHELD
from auditor.report.wording import CHECKS as WORDS
from auditor.scope import LogScope
from main_service.intake import NotLogged
from proxid import __version__
from proxid.anonymise.mix.types import Reason
from proxid.anonymise.slotted.types import SlotReason
from proxid.anonymise.split.types import SplitReason
from proxid.evidence.events import EventType
from proxid.protocol.rights import Right
from proxid.runtime.observability.metrics import REASONS
from tests.support.report_page import NOW, ROOT, Outline, example, page, part, text_of, violated


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
