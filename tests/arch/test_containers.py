"""docker-compose.yml against the Compose specification's model, and the separation that it must keep."""

import re
from pathlib import Path

import pytest
import yaml
from compose_spec import PyCompose

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def text() -> str:
    return (ROOT / "docker-compose.yml").read_text("utf-8")


def test_file_is_valid_compose(text: str) -> None:
    # Anchors are merged first, as Compose does; the model is stricter than a YAML reader: unknown keys are refused.
    merged = yaml.safe_load(text)
    compose = PyCompose.from_yaml(yaml.safe_dump(merged))
    assert set(compose.service_names()) == {"gateway", "gateway-store", "main-service", "main-service-store"}


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
    volumes = {name: {v.split(":")[0] for v in service["volumes"]} for name, service in services.items()}
    names = list(volumes)
    assert all(not volumes[a] & volumes[b] for i, a in enumerate(names) for b in names[i + 1 :])


def test_internal_networks_reach_nothing_outside(text: str) -> None:
    networks = yaml.safe_load(text)["networks"]
    assert all(networks[name]["internal"] for name in ("services", "gateway", "main-service"))
    ports = yaml.safe_load(text)["services"]["main-service"]["ports"]
    assert all(re.match(r"127\.0\.0\.1:", port) for port in ports)
