"""The thesis's four parties are services, and what a design of them names is here or its absence is explained."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DESIGN = (ROOT / "docs/design.md").read_text("utf-8")
SERVICES = {"Device": "device.proto", "Gateway": "gateway.proto", "MainService": "main_service.proto",
            "Auditor": "auditor.proto"}  # fmt: skip
"""Local device, Identity Screener, Main Service, auditor (002 §5.4): each as a gRPC service."""
LIBRARIES = {"cryptography": "cryptography", "pynacl": "nacl", "grpcio": "grpc", "protobuf": "google.protobuf",
             "redis": "redis", "spacy": "spacy"}  # fmt: skip


@pytest.mark.parametrize("service", SERVICES)
def test_each_of_the_four_is_a_grpc_service(service: str) -> None:
    text = (ROOT / "proto/proxid/wire/v1" / SERVICES[service]).read_text("utf-8")
    assert f"service {service} {{" in text
    pages = [path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")]
    assert any(re.search(rf"`{service}[`.]|{service.lower()}\.proto|serve {{?gateway", page) for page in pages)


def test_compose_runs_all_but_the_device_and_the_design_says_why() -> None:
    running = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
    assert {"gateway", "main-service", "auditor"} <= set(running)
    assert not [name for name in running if "device" in name]
    assert "no container of `docker-compose.yml`" in DESIGN


@pytest.mark.parametrize("library", LIBRARIES)
def test_its_libraries_are_needed_and_used(library: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["classify"]]
    assert any(re.match(rf"{library}\b", one.lower()) for one in needed)
    used = rf"^\s*(?:from|import) {re.escape(LIBRARIES[library])}\b"
    places = [path for room in ("proxid", "gateway", "main_service") for path in (ROOT / room).rglob("*.py")]
    assert any(re.search(used, path.read_text("utf-8"), re.MULTILINE) for path in places)


def test_its_folders_are_there() -> None:
    assert all(
        (ROOT / name).exists() for name in ("proto", "gateway", "main_service", "auditor", "device_sim", "tests")
    )
