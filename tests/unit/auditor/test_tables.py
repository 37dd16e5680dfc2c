"""The audit on a terminal: plain words for what JSON names by raw keys."""

import io
import re

from rich.console import Console

from auditor.commands.tables import show
from auditor.findings import CHECKS, Report, Unchecked
from auditor.report.wording import DROPPED, WITHHELD
from auditor.scope import LogScope, PolicyScope, Scope

ROOT = "tIcZB2nZYDQE94pxGg+9zol36tXE/Upo9w1DtGHCAm8="


def example() -> Report:
    report = Report(scope=Scope({"gateway": LogScope("proxid/trial/gateway", "KEY=", 0, 25, ROOT)}))
    report.checked.update({1: 4, 3: 20})
    report.counts.update({f"withheld.{reason}": 2 for reason in WITHHELD} | {f"dropped.{r}": 3 for r in DROPPED})
    report.counts.update({
        "withheld.access": 777, "rights.access": 5, "group.size.general.05": 9, "consent.20785.searches": 4,
        "parts.erased": 8, "requests": 100, "gateway.FORWARDED": 100, "main-service.BUFFERED": 49,
        "unlisted.gateway.3": 1,
    })  # fmt: skip
    report.add(5, "main-service", 12, "RELEASED: group is [red]small")
    return report


def printed(report: Report) -> str:
    output = io.StringIO()
    show(report, Console(file=output, width=200))
    return output.getvalue()


def test_reasons_and_counts_are_in_plain_words() -> None:
    text = printed(example())
    for raw in ("withheld.", "dropped.", "no_consent", "slot_quota", "epoch_end", "group.size", "parts.erased",
                "BUFFERED", "gateway.", "consent.", "unlisted."):  # fmt: skip
        assert raw not in text, raw
    assert all(reason in text for reason in [*WITHHELD.values(), *DROPPED.values()])
    assert "search queries: 5 people" in text and "period (epoch) 20785: searches" in text


def test_what_a_check_could_make_in_part_alone_never_reads_as_passed() -> None:
    report = Report()
    report.checked.update({1: 4, 3: 20, 5: 9, 6: 2})
    report.counts["entries.partly_checked"] = 3
    report.add(3, "gateway", 1, "REQUEST: wrong")
    report.missing.append(Unchecked(6, "gateway", "a word is missing"))
    found = dict(re.findall(r"│ (\d) [^│]*│.*│ (\w[^│]*\w) +│", printed(report)))
    assert (found["1"], found["2"], found["3"]) == ("passed", "nothing to check", "failed")
    assert (found["5"], found["6"]) == ("passed in part", "not checked in full")


def test_requests_for_own_data_stand_with_rights_alone() -> None:
    text = printed(example())
    assert re.search(r"Access: .* 5 ", text) and "777" not in text


def test_it_ends_with_roots_violations_and_the_verdict() -> None:
    lines = printed(example()).splitlines()
    assert f"proxid/trial/gateway: 25 entries, root hash {ROOT}" in lines
    assert "check 5 (Anonymity in groups), main service's log, entry 12: RELEASED: group is [red]small" in lines
    assert any("and 1 more violations" in line for line in lines)
    assert lines[-1] == "verdict: violation"


def test_epochs_stand_with_the_policy_that_they_went_by() -> None:
    report = example()
    report.scope.policies = [
        PolicyScope(20_700, 20_703, "3fa9" * 16, "accepted", 10, 1),
        PolicyScope(20_704, 20_704, "77aa" * 16, "not accepted"),
    ]
    report.missing.append(Unchecked(5, "main-service", "epoch 20704 went by policy 77aa", "policy_unaccepted"))
    lines = printed(report).splitlines()
    assert "epochs 20700-20703: policy 3fa93fa93fa93fa9, accepted, k 10, margin 1" in lines
    assert "epochs 20704-20704: policy 77aa77aa77aa77aa, not accepted" in lines
    assert report.as_dict()["scope"]["policies"][0]["k"] == 10
    assert any("went by policy 77aa" in line for line in lines)


def test_json_keeps_its_keys() -> None:
    data = example().as_dict()
    assert data["verdict"] == "violation"
    assert data["checked"] == {str(rule): {1: 4, 3: 20}.get(rule, 0) for rule in CHECKS}
    text = "RELEASED: group is [red]small"
    assert data["violations"] == [{"rule": 5, "log": "main-service", "leaf": 12, "text": text}]
    assert data["counts"]["withheld.no_consent"] == 2 and data["counts"]["dropped.erased"] == 3
    assert data["scope"]["logs"]["gateway"] == {
        "origin": "proxid/trial/gateway", "size": 25, "root": ROOT, "read_before": 0
    }  # fmt: skip
