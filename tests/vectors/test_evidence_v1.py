"""Evidence that services of version 1 recorded accuses nobody, with the same counts, and is told to say too little.

Source: recorded by this project, see `evidence_v1/README.md`.
"""

import json
import shutil
from pathlib import Path

import pytest

from auditor.reading.manifest import write_manifest
from proxid.cli.main import main

RECORDED = Path(__file__).parent / "evidence_v1"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recorded folders, with keys that only their owner may read; no witness took part then."""
    monkeypatch.setenv("PROXID_AUDITOR__REQUIRE_WITNESS", "false")
    folder = tmp_path / "recorded"
    shutil.copytree(RECORDED, folder)
    for key in folder.glob("*/*.key"):
        key.chmod(0o600)
    return folder


def audit(recorded: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict[str, object]]:
    """Exit status and JSON report of an audit of the recorded export."""
    config = str(recorded / "auditor/auditor.toml")
    status = main(["audit", "--config", config, "--from", str(recorded / "export"), "--no-pipeline", "--json", *more])
    report: dict[str, object] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return status, report


def test_evidence_of_version_1_accuses_nobody_and_says_too_little(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, report = audit(recorded, capsys, "--receipts", str(recorded / "receipts"))
    assert (status, report["verdict"], report["violations"]) == (2, "unchecked", [])
    left = report["unchecked"]
    assert isinstance(left, list)
    assert {(reason["check"], reason["code"]) for reason in left} == {
        (check, "evidence_older") for check in (2, 5, 7, 8)
    }
    counts = report["counts"]
    assert isinstance(counts, dict)
    expected = {
        "requests": 11, "released": 8, "deliveries": 4, "groups": 2, "rights.erase": 1, "rights.object": 1,
        "rights.resume": 1, "rights.access": 1, "events.unreadable": 77, "parts.erased": 3, "withheld.withdrawn": 1,
    }  # fmt: skip
    assert {name: counts[name] for name in expected} == expected


def test_an_older_installation_without_a_witness_is_unchecked_and_accused_of_nothing(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROXID_AUDITOR__REQUIRE_WITNESS")
    status, report = audit(recorded, capsys)
    assert (status, report["verdict"], report["violations"]) == (2, "unchecked", [])


def test_a_changed_leaf_of_version_1_is_found(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recorded / "export/gateway/leaves"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    write_manifest(recorded / "export")  # as if a service had shown it so
    status, _ = audit(recorded, capsys)
    assert status != 0
