"""What a mistake in a configuration is called: file or variable, key, what is allowed; in our words (DESIGN 16)."""

import datetime
import re
from pathlib import Path

import pytest

from auditor.config import AuditorConfig, WitnessConfig
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.clients.household.config import DeviceConfig
from proxid.clients.subscriber.config import PartyConfig
from proxid.errors import ConfigError
from proxid.runtime.config import load
from proxid.runtime.config.loading import Config
from proxid.runtime.provision import TrialOptions, init_trial

FOREIGN = re.compile(
    r"input|valid (string|integer|number|boolean)|permitted|required|pydantic|value error|unable to|instance of", re.I
)
PLANTED = "correct-horse-battery"


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trial")
    init_trial(folder, TrialOptions(parties=("acme",)), datetime.datetime.now(datetime.UTC))
    return folder


@pytest.fixture
def gateway(trial: Path, tmp_path: Path) -> Path:
    """A copy of the gateway's folder to spoil."""
    for file in ("gateway.toml", "trust.toml", "policy.toml"):
        (tmp_path / file).write_text((trial / "gateway" / file).read_text())
    return tmp_path


def said(model: type[Config], path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load(model, path)
    assert PLANTED not in caught.value.rule
    assert not FOREIGN.search(caught.value.rule), caught.value.rule
    return caught.value.rule


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f'workers = "{PLANTED}"', "gateway.toml: workers must be a whole number"),
        ("workers = 1.5", "gateway.toml: workers must be a whole number"),
        ("workers = 0", "gateway.toml: workers must be at least 1"),
        ("workers = 65", "gateway.toml: workers must be at most 64"),
        ("clock_skew = 0", "gateway.toml: clock_skew must be more than 0"),
        (f'clock_skew = "{PLANTED}"', "gateway.toml: clock_skew: a duration is a number of seconds, or"),
        (f'store_url = "{PLANTED}"', "gateway.toml: store_url: a store URL begins with redis://"),
        ("store_url = 3", "gateway.toml: store_url must be a text"),
        (f'log_level = "{PLANTED}"', "gateway.toml: log_level must be 'debug', 'info', 'warning' or 'error'"),
        (f'service = "{"a" * 65}"', "gateway.toml: service must have at most 64 characters"),
        ("alias_key = 1", "gateway.toml: alias_key must be a path"),
        ("retention = 3", "gateway.toml: retention must be a table"),
        ("retention.feeds = 0", "gateway.toml: retention.feeds must be more than 0"),
        ("retention.feed = 1", "gateway.toml: retention.feed: no such key (did you mean feeds?)"),
        ("rate_per_minutes = 1", "gateway.toml: rate_per_minutes: no such key (did you mean rate_per_minute?)"),
        ("zzz = 1", "gateway.toml: zzz: no such key"),
        (f'role = "{PLANTED}"', "gateway.toml: role must be 'gateway' here"),
    ],
)
def test_key_fault_and_what_is_allowed(gateway: Path, line: str, message: str) -> None:
    path = gateway / "gateway.toml"
    key = line.partition(" = ")[0]
    lines = [other for other in path.read_text().splitlines() if not other.startswith(f"{key} =")]
    path.write_text("\n".join([line, *lines]))
    assert said(GatewayConfig, path).startswith(message)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("trust.toml", '[[peers]]\nfingerprint = "x"\nrole = "device"\nname = "h"',
         "trust.toml: peers.0.fingerprint must"),
        ("trust.toml", f'service = "{PLANTED}"', "trust.toml: service: a key is written in base64"),
        ("trust.toml", '[[peers]]\nname = "UPPER"',
         "trust.toml: peers.0.fingerprint is missing; trust.toml: peers.0.role"),
        ("trust.toml", "peers = 3", "trust.toml: peers must be a list"),
        ("trust.toml", "", "gateway.toml: trust.enrolment_authority is missing"),
        ("policy.toml", 'parties = ["a", "a"]', "gateway.toml: policy: a party is listed twice"),
        ("policy.toml", 'parties = ["a"]\n[bundles.all.a]\ntypes = ["x"]',
         "policy.toml: bundles.all.a.types.0 must be"),
        ("policy.toml", "parties = [", "policy.toml: not valid TOML"),
    ],
)  # fmt: skip
def test_other_file_is_named(gateway: Path, file: str, text: str, message: str) -> None:
    (gateway / file).write_text(text)
    assert said(GatewayConfig, gateway / "gateway.toml").startswith(message)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("WORKERS", PLANTED, "environment variable PROXID_GATEWAY__WORKERS: workers must be a whole number"),
        ("RETENTION__FEEDS", "0", "environment variable PROXID_GATEWAY__RETENTION__FEEDS: feeds must be more than 0"),
        ("RETENTION", PLANTED, "PROXID_GATEWAY__RETENTION: a variable for a section must be a JSON object"),
    ],
)
def test_variable_is_named(gateway: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str) -> None:
    monkeypatch.setenv(f"PROXID_GATEWAY__{name}", value)
    assert said(GatewayConfig, gateway / "gateway.toml").startswith(message)


FILES: dict[type[Config], str] = {
    GatewayConfig: "gateway/gateway.toml", MainServiceConfig: "main-service/main-service.toml",
    AuditorConfig: "auditor/auditor.toml", WitnessConfig: "witness/witness.toml",
    PartyConfig: "parties/acme/party.toml", DeviceConfig: "devices/household-1/device.toml",
}  # fmt: skip


@pytest.mark.parametrize("model", FILES)
def test_configuration_of_another_role_is_called_that(trial: Path, model: type[Config]) -> None:
    load(model, trial / FILES[model])
    for other, file in FILES.items():
        if other is not model:
            name = Path(file).name
            assert (
                said(model, trial / file)
                == f"{name}: this is the configuration of role {other.role}, not of {model.role}"
            )


def test_another_roles_file_that_does_not_say_so_is_recognised_by_its_keys(gateway: Path) -> None:
    path = gateway / "mine.toml"
    path.write_text((gateway / "gateway.toml").read_text().replace('role = "gateway"\n', ""))
    expected = "mine.toml: this looks like the configuration of role gateway, not of main-service"
    assert said(MainServiceConfig, path) == expected
