"""An example of a report, its page, and what of a page a reader finds."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

from auditor.config import AuditorConfig
from auditor.findings import Report
from auditor.report.page import render
from auditor.scope import LogScope, Scope
from proxid.runtime.config.anonymiser import AnonymiserConfig
from proxid.runtime.config.policy import Policy

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
