"""docker-compose.yml against the Compose specification's model, and the separation that it must keep."""

import datetime
from pathlib import Path

import pytest
import yaml
from compose_spec import PyCompose

from auditor.config import AuditorConfig, WitnessConfig
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.runtime.config import load
from proxid.runtime.provision import TrialOptions, init_trial
from tests.support.compose import Compose, commands_of
from tests.support.parsing import parse

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def text() -> str:
    return (ROOT / "docker-compose.yml").read_text("utf-8")


def test_file_is_valid_compose(text: str) -> None:
    # Anchors are merged first, as Compose does; the model is stricter than a YAML reader: unknown keys are refused.
    merged = yaml.safe_load(text)
    compose = PyCompose.from_yaml(yaml.safe_dump(merged))
    assert set(compose.service_names()) == {
        "gateway", "gateway-store", "main-service", "main-service-store", "auditor", "witness",
        "setup", "acme", "globex", "household", "audit",
    }  # fmt: skip


def test_an_unknown_key_is_refused(text: str) -> None:
    merged = yaml.safe_load(text)
    merged["services"]["gateway"]["no_such_key"] = 1
    with pytest.raises(Exception, match="no_such_key"):
        PyCompose.from_yaml(yaml.safe_dump(merged))


def test_services_share_no_store_volume_or_private_network(text: str) -> None:
    services = yaml.safe_load(text)["services"]
    assert set(services["gateway"]["networks"]) & set(services["main-service"]["networks"]) == {"services"}
    assert set(services["main-service-store"]["networks"]) == {"main-service"}
    assert set(services["gateway-store"]["networks"]) == {"gateway"}
    volumes = {
        name: {v.split(":")[0] for v in service["volumes"]}
        for name, service in services.items() if "profiles" not in service
    }  # fmt: skip
    for name in ("auditor", "witness"):  # they reach what both services show them, and neither one's store
        assert set(services[name]["networks"]) <= {"devices", "services"}
    names = list(volumes)
    assert all(not volumes[a] & volumes[b] for i, a in enumerate(names) for b in names[i + 1 :])


def test_the_demo_is_asked_for_and_sees_no_store_and_no_volume_of_a_service(text: str) -> None:
    services = yaml.safe_load(text)["services"]
    demo = {name: service for name, service in services.items() if service.get("profiles") == ["demo"]}
    assert set(demo) == {"setup", "acme", "globex", "household", "audit"}
    for name, service in demo.items():
        assert set(service.get("networks", [])) <= {"devices", "services"}
        assert all(v.startswith("./trial") or v.startswith(f"{name}-data:") for v in service["volumes"])
        # Without the profile nothing waits for it.
        waiting = [
            other for other in services.values() if name in other.get("depends_on", {}) and other not in demo.values()
        ]
        assert all(other["depends_on"][name]["required"] is False for other in waiting)
    assert demo["setup"]["network_mode"] == "none"
    assert services["audit"]["depends_on"]["household"] == {"condition": "service_completed_successfully"}


def test_the_command_line_takes_every_command_of_the_file(text: str, tmp_path: Path) -> None:
    compose = Compose(tmp_path, Path("valkey-server"))
    init_trial(tmp_path / "trial", TrialOptions(households=("household-1",)), datetime.datetime.now(datetime.UTC))
    taken = []
    for service in compose.services.values():
        for words in commands_of(service):
            parse([compose.here(service, word) for word in words])
            taken.append(words[0])
    assert sorted(set(taken)) == ["audit", "device", "doctor", "init", "serve", "subscribe", "witness"]


def test_internal_networks_reach_nothing_outside(text: str) -> None:
    networks = yaml.safe_load(text)["networks"]
    assert all(networks[name]["internal"] for name in ("services", "gateway", "main-service"))
    services = yaml.safe_load(text)["services"]
    assert "ports" not in services["main-service"]
    assert [port for port in services["gateway"]["ports"] if not port.startswith("127.0.0.1:")] == ["7443:7443"]


def test_state_lies_outside_the_read_only_configuration(text: str) -> None:
    """A mount inside a read-only one needs a folder there that nobody makes; and its owner must be the image's user."""
    image = (ROOT / "Dockerfile").read_text("utf-8")
    for name in ("gateway", "main-service"):
        service = yaml.safe_load(text)["services"][name]
        folder = service["environment"][f"PROXID_{name.upper().replace('-', '_')}__DATA_DIR"]
        assert f"{name}-data:{folder}" in service["volumes"]
        assert not folder.startswith("/etc/proxid")
        assert f"--owner 10001 --mode 0700 {folder}" in image


def test_variables_of_the_services_are_keys_of_their_configurations(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    init_trial(tmp_path, TrialOptions(), datetime.datetime.now(datetime.UTC))
    for name, model in (("auditor", AuditorConfig), ("witness", WitnessConfig)):
        for variable, value in yaml.safe_load(text)["services"][name]["environment"].items():
            monkeypatch.setenv(variable, value)
        assert str(load(model, tmp_path / name / f"{name}.toml").data_dir) == "/var/lib/proxid"
    for name, model in (("gateway", GatewayConfig), ("main-service", MainServiceConfig)):
        for variable, value in yaml.safe_load(text)["services"][name]["environment"].items():
            monkeypatch.setenv(variable, value)
        config = load(model, tmp_path / name / f"{name}.toml")
        assert str(config.data_dir) == "/var/lib/proxid"
        assert config.store_url == f"redis://{name}-store:6379"


def test_image_takes_no_keys() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert {"**/*.key", "trial", ".git"} <= set(ignored)
