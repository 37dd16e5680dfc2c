"""`proxid doctor` of every role: good while all runs, and each fault by its name with a next step."""

import json
from pathlib import Path
from typing import Any

import pytest

from proxid.runtime.store import connect
from tests.support.addresses import free_address
from tests.support.trial import run_command, running

FILES = {
    "gateway": "gateway/gateway.toml", "main-service": "main-service/main-service.toml",
    "auditor": "auditor/auditor.toml", "witness": "witness/witness.toml", "party": "parties/acme/party.toml",
    "device": "devices/household-1/device.toml",
}  # fmt: skip
SERVICES = ("gateway", "main-service")


async def looked(capsys: pytest.CaptureFixture[str], path: Path, *more: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = await run_command("doctor", "--config", str(path), "--json", *more)
    return status, {row["name"]: row for row in json.loads(capsys.readouterr().out)["findings"]}


async def test_all_is_well_and_each_fault_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GATEWAY", "MAIN_SERVICE"):
        monkeypatch.setenv(f"PROXID_{name}__METRICS_LISTEN", free_address())
    async with running(tmp_path) as trial:
        await trial.busy(1)
        for role, file in FILES.items():
            status, found = await looked(capsys, tmp_path / file)
            assert status == 0, (role, found)
            assert {"files", "certificate", "disk"} <= set(found)
            assert (await looked(capsys, tmp_path / file, "--ready"))[0] == 0
        for role in SERVICES:
            _, found = await looked(capsys, tmp_path / FILES[role])
            assert {"port", "store", "policy", "clock", "heads", "evidence", "witness"} <= set(found)
            # No room for the log.
            store = connect(trial.url(role))
            await store.set("{gw}:events:full" if role == "gateway" else "{ms}:events:full", 1)
            status, found = await looked(capsys, tmp_path / FILES[role], "--ready")
            assert status == 1 and found["evidence"]["next"] == "make room in data_dir"
            await store.delete("{gw}:events:full" if role == "gateway" else "{ms}:events:full")
            await store.aclose()
        await trial.halt("gateway")
        for role in ("gateway", "party", "device", "auditor"):
            status, found = await looked(capsys, tmp_path / FILES[role], "--ready")
            where = "port" if role == "gateway" else "gateway"
            assert status == 1 and found[where]["state"] == "wrong" and found[where]["next"]
        # The main service serves nobody, and is ready all the same.
        assert (await looked(capsys, tmp_path / FILES["main-service"], "--ready"))[0] == 0
    status, found = await looked(capsys, tmp_path / FILES["main-service"], "--ready")
    assert status == 1 and found["store"]["state"] == "wrong"
    (tmp_path / "witness/tls.crt").write_bytes(b"nothing")
    status, found = await looked(capsys, tmp_path / FILES["witness"])
    assert status == 1 and found["files"]["text"] == "tls.certificate: tls.crt holds no certificate in PEM"
    capsys.readouterr()
    assert await run_command("doctor", "--config", str(tmp_path / FILES["witness"]), "--ready") == 1
    shown = capsys.readouterr().out
    assert "files" in shown and "disk" not in shown
    (tmp_path / "other.toml").write_text('role = "nobody"\n')
    assert await run_command("doctor", "--config", str(tmp_path / "other.toml")) == 2
