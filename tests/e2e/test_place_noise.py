"""Noise on places with the real classifier and separate processes: configured by variables, paid for, audited (8.8)."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import h3
import pytest

from proxid.cli.main import main
from proxid.runtime.process.child import Child
from tests.support.addresses import free_address
from tests.support.logs import logging_restored

PEOPLE = [f"user{i}" for i in range(8)]
CENTRE = h3.cell_to_latlng(h3.latlng_to_cell(41.39, 2.17, 2))
"""The middle of a cell 300 km across, so that noise of 10 km does not leave it."""
PLACES = [(CENTRE[0] + north, CENTRE[1]) for north in (0.0, 0.1, 0.2)]
SECTION = {
    "K": "2", "FINEST_RESOLUTION": "2", "TIME_SLOTS": '["1 s", "2 s", "1 d"]', "PLACE_EPSILON": "0.0002",
    "PLACE_BUDGET": "0.0004",
}  # fmt: skip


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for role in ("GATEWAY", "MAIN_SERVICE", "AUDITOR"):  # what an audit recomputes is the same everywhere
        for key, value in SECTION.items():
            monkeypatch.setenv(f"PROXID_{role}__ANONYMISER__{key}", value)
    monkeypatch.setenv("PROXID_AUDITOR__FLOORS__K", SECTION["K"])
    folder = tmp_path / "trial"
    addresses = ["--gateway", free_address(), "--main-service", free_address()]
    metrics = ["--gateway-metrics", "127.0.0.1:0", "--main-service-metrics", "127.0.0.1:0"]
    assert main(["init", str(folder), "--parties", "acme", *addresses, *metrics]) == 0
    users = [word for user in PEOPLE for word in ("-u", user)]
    ea, devices = str(folder / "ea"), str(folder / "devices")
    assert main(["device", "enrol", "--config", devices, "--ea", ea, "--since", "2026-01-01", *users]) == 0
    children = []
    for name in ("main-service", "gateway"):
        child = Child(name, ["serve", name, "--config", str(folder / name / f"{name}.toml")], folder)
        child.start()
        children.append(child)
    for child in children:
        child.wait_ready()
    yield folder
    for child in reversed(children):
        assert child.stop() == 0


def test_third_place_is_withheld_and_the_audit_is_clean(trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with logging_restored():
        for i, (latitude, longitude) in enumerate(PLACES):
            log = trial / f"place{i}.jsonl"
            event = {"text": "is there a good pizza place near me", "location": f"{latitude},{longitude}"}
            log.write_text("".join(json.dumps({"user": user, **event}) + "\n" for user in PEOPLE))
            words = ["device", "replay", str(log), "--config", str(trial / "devices")]
            assert main([*words, *(["--bundle", "everything"] if i == 0 else [])]) == 0
            time.sleep(1.5)  # one record a person and slot
        rows: list[dict[str, str]] = []
        deadline = time.monotonic() + 60
        while len(rows) < 2 * len(PEOPLE) and time.monotonic() < deadline:
            capsys.readouterr()
            assert main(["subscribe", "--config", str(trial / "parties/acme/party.toml"), "--json"]) == 0
            rows += [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {row["kind"] for row in rows} == {"location"}
        assert {row["category"] for row in rows} <= set(h3.grid_disk(h3.latlng_to_cell(*CENTRE, 2), 1))
        capsys.readouterr()
        assert main(["witness", "--config", str(trial / "witness/witness.toml"), "--once"]) == 0
        capsys.readouterr()
        receipts = ["--receipts", str(trial / "parties"), "--receipts", str(trial / "devices")]
        assert main(["audit", "--config", str(trial / "auditor/auditor.toml"), "--json", *receipts]) == 0
        report = json.loads(capsys.readouterr().out)
    assert report["counts"]["withheld.place_budget"] == len(PEOPLE)
    assert report["counts"]["main-service.BUFFERED"] == 2 * len(PEOPLE)
