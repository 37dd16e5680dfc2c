"""`proxid doctor` of every role: good while all runs, and each fault by its name with a next step."""

import asyncio
import datetime
import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from proxid.runtime.doctor import State, of_disk
from proxid.runtime.provision import toml
from proxid.runtime.provision.party import sign_request
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
    return status, {row["name"]: row for row in json.loads(capsys.readouterr().out.splitlines()[-1])["findings"]}


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
            assert found[where]["outcome"] == "unreachable" and trial.config("gateway").listen in found[where]["text"]
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
    # Without it nothing that the services seal can be read.
    (tmp_path / "auditor/opening.key").unlink()
    status, found = await looked(capsys, tmp_path / FILES["auditor"])
    assert status == 1 and found["signing key"]["state"] == "good" and found["opening key"]["state"] == "wrong"
    (tmp_path / "other.toml").write_text('role = "nobody"\n')
    assert await run_command("doctor", "--config", str(tmp_path / "other.toml")) == 2


async def test_a_service_is_asked_and_not_only_called(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who is revoked, has an old certificate, knows another server, or calls one that is not ready, hears of it."""
    async with running(tmp_path) as trial:
        device = tmp_path / FILES["device"]

        async def outcome(role: str, where: str) -> tuple[int, str]:
            status, found = await looked(capsys, tmp_path / FILES[role], "--ready")
            return status, found[where]["outcome"]

        assert await outcome("device", "gateway") == (0, "serving")
        for role in SERVICES:  # each looks at itself with its own certificate
            assert await outcome(role, "port") == (0, "serving")
        # Another certificate of the same name, which the CA has signed and nobody has imported.
        ca = tmp_path / "ca"
        files = {name: (device.parent / name).read_bytes() for name in ("tls.crt", "trust.toml")}
        now = datetime.datetime.now(datetime.UTC)
        csr = (device.parent / "tls.csr").read_bytes()
        (device.parent / "tls.crt").write_bytes(sign_request(ca, csr, now))
        assert await outcome("device", "gateway") == (1, "certificate_refused")
        (device.parent / "tls.crt").write_bytes(sign_request(ca, csr, now - datetime.timedelta(days=2000)))
        assert await outcome("device", "gateway") == (1, "certificate_refused")
        (device.parent / "tls.crt").write_bytes(files["tls.crt"])
        # The server's certificate is not the one that was imported.
        pem = (tmp_path / "gateway/tls.crt").read_text("ascii")
        other = sign_request(ca, (tmp_path / "gateway/tls.csr").read_bytes(), now).decode("ascii")
        trust = files["trust.toml"].decode("ascii")
        assert json.dumps(pem)[1:-1] in trust
        (device.parent / "trust.toml").write_text(trust.replace(json.dumps(pem)[1:-1], json.dumps(other)[1:-1]))
        assert await outcome("device", "gateway") == (1, "server_not_accepted")
        (device.parent / "trust.toml").write_bytes(files["trust.toml"])
        # A clock that is doubted: nothing is served.
        trial.clocks["gateway"].set = 86_400.0
        async with asyncio.timeout(20):
            while (await outcome("device", "gateway"))[1] != "not_ready":
                pass  # each look is a call
        assert await outcome("gateway", "port") == (1, "not_ready")


async def test_what_is_well_is_said_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXID_GATEWAY__METRICS_LISTEN", free_address())
    async with running(tmp_path) as trial:
        await trial.busy(1)
        _, found = await looked(capsys, tmp_path / FILES["gateway"])
        assert found["policy"]["text"] == "both services hold the newest"
        assert "goes by" in found["policies"]["text"]
        assert not any(row["text"] == "good" for row in found.values())
        trust, policy = tmp_path / "gateway/trust.toml", tmp_path / "gateway/policy.toml"
        trust.write_text(trust.read_text().replace("[parties.globex]", "[parties.gone]"))
        said = tomllib.loads(policy.read_text())
        said["parties"].remove("globex")
        for bundle in said["bundles"].values():
            bundle.pop("globex", None)
        policy.write_text(toml.dumps(said))
        status, found = await looked(capsys, tmp_path / FILES["gateway"])
        assert status == 1 and "globex" in found["parties"]["text"] and "public.toml" in found["parties"]["next"]


def test_a_folder_that_nothing_can_be_kept_in_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("/nowhere/at/all")
    for name in ("file", "link", "file/below"):
        found = of_disk(tmp_path / name)
        assert found.state is State.WRONG and str(tmp_path / name.split("/")[0]) in found.text and found.next, name
    good = of_disk(tmp_path / "not/yet/there")
    assert good.state is not State.WRONG or "free" in good.text
    # What a volume that is mounted read-only says, also to root.
    monkeypatch.setattr(os, "access", lambda *_: False)
    found = of_disk(tmp_path / "not/yet/there")
    assert found.state is State.WRONG and "cannot be written" in found.text and not found.ready
