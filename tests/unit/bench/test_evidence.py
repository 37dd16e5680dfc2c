"""`bench evidence`: its day is one that an honest house could have, and its figures are told from it."""

from pathlib import Path

from auditor.audit import Audit, AuditOptions
from auditor.findings import Verdict
from bench.evidence import figures as benchmark
from bench.evidence.audit import LOGS, DiskKeys, DiskLog, moment_of
from bench.evidence.day import Day
from bench.evidence.known import NOW


def test_the_day_is_clean(tmp_path: Path) -> None:
    day = Day(tmp_path, people=15, nodes=2)
    day.run(500)
    trust, moment = day.trust, moment_of(day)
    keys = dict(zip(LOGS, (trust.screener, trust.service_key), strict=True))
    logs = [DiskLog(tmp_path / name, f"proxid/main-service/{name}", key) for name, key in keys.items()]
    report = Audit(trust, DiskKeys(moment.seeds), AuditOptions(settle=0.0), clock=lambda: NOW).run(*logs)
    assert report.verdict is Verdict.CLEAN, (report.violations, report.reasons)
    assert report.counts["deliveries"] > 0
    assert report.believed["seals"] == 1


def test_memory_at_a_million_is_measured_or_goes_on_as_it_grew() -> None:
    assert benchmark._at_a_million([(500_000, 115.0), (1_000_003, 120.0)])["value"] == 120.0
    assert benchmark._at_a_million([(100_000, 100.0), (200_000, 104.0)])["value"] == 136.0
    assert benchmark._at_a_million([(100_000, 100.0), (200_000, 99.0)])["value"] == 99.0
