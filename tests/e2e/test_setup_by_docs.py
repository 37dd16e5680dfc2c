"""Setting up in earnest, as docs/operations.md writes it: afterwards every party's configuration is whole.

The shell says which commands it would run, and they run in this process: thirty that start alone take most of a minute.
"""

import re
import subprocess
from pathlib import Path

import pytest

from auditor.config import AuditorConfig, WitnessConfig
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.cli.main import main
from proxid.clients.household.config import DeviceConfig, EnrolmentAuthorityConfig
from proxid.clients.household.state import HouseholdState
from proxid.clients.subscriber.config import PartyConfig
from proxid.runtime.config import load
from proxid.runtime.config.loading import Config, load_section
from proxid.runtime.config.terms import document_of
from proxid.runtime.config.trust import Trust
from proxid.runtime.provision.policies import PolicyFolder
from tests.support.logs import logging_restored

TEXT = (Path(__file__).resolve().parents[2] / "docs/operations.md").read_text("utf-8")
NOTED = "proxid() { printf '%s\\0' \"$@\"; echo; }\n"
FILES: dict[type[Config], str] = {
    GatewayConfig: "gateway/gateway.toml", MainServiceConfig: "main-service/main-service.toml",
    AuditorConfig: "auditor/auditor.toml", WitnessConfig: "witness/witness.toml", PartyConfig: "acme/party.toml",
    DeviceConfig: "home/device.toml", EnrolmentAuthorityConfig: "ea/ea.toml",
}  # fmt: skip


def test_setting_up_in_earnest_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = TEXT.partition("## Setting up in earnest")[2].partition("### Backup and disaster")[0]
    script = "\n".join(re.findall(r"```sh\n(.*?)```", section, re.S))
    assert script.count("proxid ") > 10
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", NOTED + script], capture_output=True, text=True, timeout=60, check=True
    )
    monkeypatch.chdir(tmp_path)
    with logging_restored():
        for line in done.stdout.splitlines():
            assert main(line.rstrip("\0").split("\0")) == 0, line
    for model, file in FILES.items():
        load(model, tmp_path / file)
    gateway = load(GatewayConfig, tmp_path / "gateway/gateway.toml")
    assert (gateway.listen, gateway.main_service) == ("0.0.0.0:7443", "ms.example.org:7444")
    assert {(peer.role, peer.name) for peer in gateway.trust.peers} == {
        ("auditor", "auditor"), ("witness", "witness"), ("party", "acme"), ("device", "home"),
    }  # fmt: skip
    for folder, role in (("home", "gateway"), ("acme", "gateway"), ("gateway", "main-service")):
        trust = load_section(Trust, tmp_path / folder / "trust.toml")
        assert trust.certificates("gateway" if role == "gateway" else "main-service"), folder
    # The policy that it was set up with stays accepted, whatever its files say before the first audit.
    auditor = load(AuditorConfig, tmp_path / "auditor/auditor.toml")
    assert PolicyFolder(auditor.data_dir).digests() == [document_of(gateway).digest] == [document_of(auditor).digest]
    assert list(HouseholdState(tmp_path / "home/data").users()) == ["ann"]
