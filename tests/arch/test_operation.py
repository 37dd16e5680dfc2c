"""What `deploy/` holds for operators: alert rules, scrape configuration and units fit the product that they are for."""

import datetime
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client import REGISTRY

from proxid.errors import Code
from proxid.runtime.config.base import ServiceConfig
from proxid.runtime.observability import metrics
from proxid.runtime.observability.endpoint import Facts
from proxid.runtime.provision import TrialOptions, init_trial
from tests.support.parsing import parse

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "deploy/prometheus/alerts.yml"
UNITS = sorted((ROOT / "deploy/systemd").glob("*.service"))
NAME = re.compile(r"proxid_[a-z0-9_]+")
INSTALLED = "/opt/proxid/.venv/bin/proxid"
OF_HISTOGRAMS = ("_bucket", "_count", "_sum")


def served() -> dict[str, str]:
    """Name of each series that is served → its metric's type."""
    found = {}
    assert metrics.CALLS is not None
    for family in (*REGISTRY.collect(), *Facts({}, ROOT).collect()):
        if family.name.startswith("proxid_"):
            ends = OF_HISTOGRAMS if family.type == "histogram" else ("_total",) if family.type == "counter" else ("",)
            found.update({family.name + end: family.type for end in ends})
    return found


def _short(name: str) -> str:
    """As one says it: of a histogram without its ending."""
    return re.sub(rf"({'|'.join(OF_HISTOGRAMS)})$", "", name)


def rules() -> list[dict[str, object]]:
    return [rule for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"] for rule in group["rules"]]


def test_alerts_name_metrics_that_are_served_and_say_what_to_do() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        assert set(NAME.findall(str(rule["expr"]))) <= set(served()), rule["alert"]
        assert rule["labels"] in ({"severity": "critical"}, {"severity": "warning"})
        assert set(rule["annotations"]) == {"summary", "next"}  # type: ignore[call-overload]
        codes = re.findall(r'code="(\w+)"', str(rule["expr"]))
        assert set(codes) <= {code.value for code in Code}


def test_names_follow_prometheus_conventions_and_stand_in_the_documents() -> None:
    text = (ROOT / "docs/operations.md").read_text("utf-8")
    documented = set(NAME.findall(text))
    shortened = {_short(name) for name in served()}
    for name, kind in served().items():
        assert name.endswith("_total") == (kind == "counter"), name
        assert not re.search(r"_(minutes|hours|days|ms|kb|mb|percent)$", name), name
        assert {name, _short(name)} & documented, name
    assert documented <= set(served()) | shortened


def test_prometheus_takes_the_rules_and_they_fire_when_they_should() -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    for command in ("check rules alerts.yml", "check config prometheus.yml", "test rules alerts_test.yml"):
        done = subprocess.run(
            [tool, *command.split()], cwd=RULES.parent, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("trial")
    init_trial(folder, TrialOptions(), datetime.datetime.now(datetime.UTC))
    yield folder


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_commands_of_units_are_taken(unit: Path, trial: Path) -> None:
    """With an instance that the folder has, and the file where `proxid init` puts it."""
    instance = "acme" if "party" in unit.name else "household-1"
    text = unit.read_text("utf-8").replace("%i", instance).replace("/var/lib/proxid", str(trial))
    lines = [line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] not in "#["]
    commands = [value for key, value in lines if key.startswith("Exec") and INSTALLED in value]
    assert commands
    for command in commands:
        for words in re.findall(rf"{INSTALLED} ([^;>']+)", command):
            parse(shlex.split(words))
    written = dict(lines)["ReadWritePaths"]
    assert Path(written.removeprefix("-")).parent.is_dir()


def test_units_give_a_service_time_to_stop() -> None:
    for unit in UNITS:
        stop = re.search(r"TimeoutStopSec=(\d+)", unit.read_text("utf-8"))
        assert stop is None or int(stop[1]) > ServiceConfig.model_fields["shutdown_grace"].default
