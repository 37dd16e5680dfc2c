"""What services of earlier releases really wrote is judged by today's auditor, and accuses nobody.

It is not clean where their entries say less than today's do: whoever lies could say less, too (docs/adr/0040).

Source: recorded by this project, see `releases/README.md`.
"""

import dataclasses
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.audit import Audit, AuditOptions
from auditor.checks.c9_receipts import read_receipts
from auditor.config import AuditorConfig
from auditor.findings import CONSENT, GATEWAY, HEADS, OPENING, Report, Verdict
from auditor.reading.export import FolderKeys, FolderLog
from auditor.reading.manifest import write_manifest
from auditor.setup import opening_of, trust_of
from auditor.state import AuditState
from proxid.errors import AuditStateError
from proxid.evidence.events import EventType
from proxid.evidence.leaf import Leaf
from proxid.runtime.config import load
from tests.support.trial import FixedClassifier

RELEASES = sorted(path.name.removesuffix(".tar.xz") for path in Path(__file__).parent.glob("releases/*.tar.xz"))
YEAR = 365 * 86_400.0
DAY = {
    "requests": 7, "rights.object": 2, "rights.resume": 1, "rights.erase": 1, "rights.withdrawal": 1,
    "gateway.OBJECTED": 3, "gateway.ERASED": 1, "main-service.ERASED": 1, "main-service.EPOCH_CLOSED": 1,
    "withheld.restricted": 2,
}  # fmt: skip
"""Counts of what is in every recorded history; in it is also what its form shows."""
FORMS = {
    "pairs": {"gateway.DELIVERED": 1, "gateway.DROPPED": 1, "main-service.RELEASED": 1, "groups.partly_erased": 1},
    "split": {"gateway.DELIVERED": 2, "main-service.BATCHED": 1, "main-service.TICKED": 1},
}


class Recorded:
    """What the auditor of a release had, unpacked; audits go by the clock of then."""

    def __init__(self, name: str, folder: Path) -> None:
        self.form = name.partition("-")[2]
        with tarfile.open(Path(__file__).parent / f"releases/{name}.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        self.folder, self.export = folder, folder / "export"
        self.said = json.loads((folder / "said.json").read_text("utf-8"))
        self.config = load(AuditorConfig, folder / "auditor/auditor.toml")

    def audit(self, after: float = 0.0, *, receipts: bool = True, state: AuditState | None = None) -> Report:
        """By today's auditor, so many seconds after it was recorded."""
        trust = dataclasses.replace(trust_of(self.config, pipeline=False), classifier=FixedClassifier())
        presented = read_receipts(self.folder / "receipts") if receipts else ()
        options = AuditOptions(settle=0.0, receipts=presented)
        keys = FolderKeys(self.export, opening_of(self.config))
        audit = Audit(trust, keys, options, lambda: float(self.said["time"]) + after, state)
        return audit.run(FolderLog(self.export / "gateway"), FolderLog(self.export / "main-service"))

    def state(self) -> AuditState:
        """What that release's auditor kept of the audit that it made halfway."""
        return AuditState(self.config.data_dir / "audit-of-export", opening_of(self.config))

    def rewrite(self, log: str, change: Callable[[list[Leaf]], None]) -> None:
        """A log whose service showed other leaves, beside the head that it signed."""
        folder = self.export / log
        leaves = list(FolderLog(folder).leaves(1, 1 << 62))
        change(leaves)
        encoded = [leaf.encode() for leaf in leaves]
        (folder / "leaves").write_bytes(b"".join(len(data).to_bytes(4) + data for data in encoded))
        (folder / "hashes").write_bytes(b"".join(leaf.hash for leaf in leaves))
        write_manifest(self.export)


@pytest.fixture(params=RELEASES)
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Recorded:
    return Recorded(request.param, tmp_path)


def accuses_nobody(report: Report) -> None:
    """All is checked but that the main service was told of three objections: it did not promise that then."""
    said = [(reason.rule, reason.log, reason.text.partition(" (")[0], reason.code) for reason in report.reasons]
    untold = (CONSENT, GATEWAY, "3 objections do not show that the main service was told of them", "evidence_older")
    assert (report.violations, said, report.verdict) == ([], [untold], Verdict.UNCHECKED)


def accused(report: Report) -> set[tuple[int, str]]:
    assert report.verdict is Verdict.VIOLATION
    return {(violation.rule, violation.log) for violation in report.violations}


def test_there_are_releases_of_each_form() -> None:
    assert {name.partition("-")[2] for name in RELEASES} == FORMS.keys()


@pytest.mark.parametrize("after", [0.0, 10 * YEAR])
def test_what_an_earlier_release_wrote_accuses_nobody_whenever_it_is_audited(recorded: Recorded, after: float) -> None:
    report = recorded.audit(after)
    accuses_nobody(report)
    expected = DAY | FORMS[recorded.form]
    assert {name: report.counts[name] for name in expected} == expected
    # All that people and parties of then hold is found again.
    held = list(read_receipts(recorded.folder / "receipts"))
    assert report.checked[9] == len(held) > 30 and {one.kind for one in held} >= {"promise", "rights", "consent"}
    assert report.counts["receipts.unproven"] == 0


def test_it_is_counted_as_the_auditor_of_then_counted_it(recorded: Recorded) -> None:
    then, now = recorded.said["report"], recorded.audit(receipts=False)
    assert not then["violations"]
    assert {name: now.counts[name] for name in then["counts"]} == then["counts"]


@pytest.mark.parametrize("log", ["gateway", "main-service"])
def test_a_byte_changed_in_it_is_named(recorded: Recorded, log: str) -> None:
    def change(leaves: list[Leaf]) -> None:
        first, *more = leaves[5].parts
        leaves[5] = dataclasses.replace(leaves[5], parts=(bytes([first[0] ^ 1]) + first[1:], *more))

    recorded.rewrite(log, change)
    report = recorded.audit()
    assert (OPENING, log) in accused(report)
    assert 6 in {violation.event for violation in report.violations}


@pytest.mark.parametrize("kind", [EventType.OBJECTED, EventType.ERASED, EventType.FORWARDED])
def test_an_entry_left_out_of_it_is_a_violation(recorded: Recorded, kind: EventType) -> None:
    recorded.rewrite("gateway", lambda leaves: leaves.remove(next(x for x in leaves if x.known.type is kind)))
    assert (HEADS, "gateway") in accused(recorded.audit())


def test_what_the_auditor_of_then_kept_is_refused_by_name_and_all_is_read_anew(recorded: Recorded) -> None:
    state = recorded.state()
    with pytest.raises(AuditStateError, match="written by another version of proxid; audit anew with --fresh"):
        recorded.audit(state=state)
    state.reset()
    anew = recorded.audit(state=state)
    accuses_nobody(anew)
    again = recorded.audit(state=recorded.state())
    accuses_nobody(again)
    assert again.checked_before[3] == anew.checked[3] > again.checked[3] == 0
    assert again.believed == anew.believed
