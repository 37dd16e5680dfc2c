"""Configuration: what is unknown, missing or out of range is refused by key, never by value (DESIGN 16)."""

import base64
import time
from pathlib import Path

import pytest

from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.clients.household.config import DeviceConfig
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.errors import ConfigError
from proxid.protocol.consent import NOTHING
from proxid.runtime.config import Policy, RequestType, load, load_policy
from proxid.runtime.config.anonymiser import AnonymiserConfig
from proxid.runtime.config.bundles import bundles_of

KEY = base64.b64encode(SigningKey(bytes(32)).public).decode()
SEAL = base64.b64encode(OpeningKey(bytes(range(96))).public.data).decode()
PLANTED = "correct-horse-battery"

TRUST = f"""
[trust]
enrolment_authority = "{KEY}"
service = "{KEY}"
screener = "{KEY}"
auditor_seal = "{SEAL}"
"""


def write(folder: Path, text: str, name: str = "gateway.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_defaults_are_the_designs(tmp_path: Path) -> None:
    gateway = load(GatewayConfig, write(tmp_path, 'name = "gateway"' + TRUST))
    assert (gateway.listen, gateway.metrics_listen) == ("127.0.0.1:7443", "127.0.0.1:9464")
    assert (gateway.season_days, gateway.epoch_seconds, gateway.clock_skew, gateway.nonce_ttl) == (7, 86400, 120, 300)
    main = load(MainServiceConfig, write(tmp_path, 'name = "main-service"' + TRUST))
    anonymiser = main.anonymiser
    assert (main.listen, main.metrics_listen) == ("127.0.0.1:7444", "127.0.0.1:9465")
    assert (anonymiser.form, anonymiser.level, anonymiser.k, anonymiser.sybil_margin) == ("split", 1, 10, 1)
    assert AnonymiserConfig(form="pairs").level == 2
    assert (anonymiser.max_delay_records, anonymiser.max_delay, anonymiser.min_text_users) == (10_000, 21_600, 3)
    assert (anonymiser.person_cap, anonymiser.finest_resolution) == (20, 8)
    assert anonymiser.time_slots == (900, 3600, 21600, 86400)


def test_relative_paths_start_from_the_file(tmp_path: Path) -> None:
    config = load(GatewayConfig, write(tmp_path, 'name = "g"\ndata_dir = "state"' + TRUST))
    assert config.data_dir == tmp_path / "state"
    assert config.tls.key == tmp_path / "tls.key"


def test_environment_overrides_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXID_MAIN_SERVICE__ANONYMISER__K", "4")
    monkeypatch.setenv("PROXID_MAIN_SERVICE__LISTEN", "0.0.0.0:1")
    text = 'name = "m"\nlisten = "127.0.0.1:9"\n[anonymiser]\nlevel = 3\n' + TRUST
    config = load(MainServiceConfig, write(tmp_path, text))
    assert (config.anonymiser.k, config.anonymiser.level, config.listen) == (4, 3, "0.0.0.0:1")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (f'name = "g"\nratee = "{PLANTED}"', "ratee"),
        (f'name = "g"\nrate_per_minute = "{PLANTED}"', "rate_per_minute"),
        (f'name = "g"\nappendfsync = "{PLANTED}"', "appendfsync"),
        (f'name = "g"\nlisten = "{PLANTED}"', "listen"),
        (f'name = "g"\nstore_url = "{PLANTED}"', "store_url"),
        (f'name = "g"\nnotice_spread = "{PLANTED}"', "notice_spread"),
        (f'name = "g"\n[tls]\nkeyy = "{PLANTED}"', "tls.keyy"),
        (f'name = "g"\n[[trust.peers]]\nfingerprint = "{PLANTED}"\nrole = "device"\nname = "h"', "trust.peers.0"),
        (f'name = "g"\n[trust]\nservice = "{PLANTED}"', "trust.service"),
        ('name = "g"', "trust.enrolment_authority"),
        ("workers = 2", "name"),
    ],
)
def test_bad_key_is_named_and_its_value_is_not(tmp_path: Path, text: str, path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(GatewayConfig, write(tmp_path, text))
    assert path in caught.value.rule
    assert PLANTED not in caught.value.rule
    assert caught.value.__cause__ is None


def test_unknown_variable_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXID_GATEWAY__RATEE", PLANTED)
    with pytest.raises(ConfigError, match="PROXID_GATEWAY__RATEE") as caught:
        load(GatewayConfig, write(tmp_path, 'name = "g"' + TRUST))
    assert PLANTED not in caught.value.rule


def test_broken_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="line 2") as caught:
        load(GatewayConfig, write(tmp_path, f'name = "g"\n{PLANTED} ==='))
    assert PLANTED not in caught.value.rule


def test_sections_in_their_own_files(tmp_path: Path) -> None:
    write(tmp_path, TRUST.replace("[trust]", ""), "trust.toml")
    write(tmp_path, 'parties = ["a"]\n[bundles.all.a]\ntypes = ["general"]\nas = "alias"', "policy.toml")
    config = load(DeviceConfig, write(tmp_path, 'name = "h"\ntrust = "trust.toml"\npolicy = "policy.toml"'))
    assert config.policy.audience("all", RequestType.GENERAL) == ("a",)
    assert config.policy.audience("all", RequestType.COMMAND) == ()


def test_default_of_everybody_is_nothing() -> None:
    policy = Policy(parties=("a",))
    assert policy.bundle(NOTHING) == {}
    assert policy.bundle("unheard-of") is None
    assert bundles_of(policy) == {NOTHING: ()}
    assert policy.audience(NOTHING, RequestType.GENERAL) == ()


def test_bundle_of_unlisted_party_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not listed"):
        load_policy(write(tmp_path, 'parties = ["a"]\n[bundles.all.b]\ntypes = ["general"]'))


def test_two_names_of_a_person_at_one_party_are_refused_at_start_and_what_to_do_is_said(tmp_path: Path) -> None:
    """Places used to come under an alias of the day: an older file must not begin to mean another name by itself."""
    mixed = 'parties = ["a"]\n[bundles.all.a]\ntypes = ["general", "location"]\n'
    policy = tmp_path / "policy.toml"
    config = write(tmp_path, 'name = "g"\npolicy = "policy.toml"' + TRUST)
    policy.write_text(mixed)
    with pytest.raises(ConfigError, match=r"policy: bundle all gives a places or commands; .* write one_name = true"):
        load(GatewayConfig, config)
    policy.write_text("one_name = true\n" + mixed)
    with pytest.raises(ConfigError, match=r"^[^;]*trust\.parties lacks"):
        load(GatewayConfig, config)


def test_main_service_needs_every_partys_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"trust\.parties"):
        load(MainServiceConfig, write(tmp_path, 'name = "m"\n[policy]\nparties = ["a"]' + TRUST))


def test_ten_thousand_parties_load_quickly(tmp_path: Path) -> None:
    """Issue 3 (4). Measured 0.3 s for the policy; 5 s leaves room for a busy machine, and a quadratic walk fails."""
    names = [f"party-{i:05}" for i in range(10_000)]
    grants = "".join(f"[bundles.all.{name}]\ntypes = ['general', 'command']\nas = 'alias'\n" for name in names)
    path = write(tmp_path, f"parties = {names}\n{grants}")
    start = time.process_time()
    policy = load_policy(path)
    assert len(policy.audience("all", RequestType.COMMAND)) == 10_000
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "value", ["[" * 5_000, '{"a":' * 5_000, '{"\\ud800": 1}', '{"\\u001b[2J": 1}', '{"a": NaN}', "nan"]
)
def test_a_variable_may_hold_anything_and_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("PROXID_GATEWAY__TLS", value)
    with pytest.raises(ConfigError, match="PROXID_GATEWAY__TLS") as refused:
        load(GatewayConfig, write(tmp_path, 'name = "g"' + TRUST))
    assert refused.value.rule.isprintable()


def test_a_variable_within_a_section_is_named_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXID_GATEWAY__TRUST__PARTIES", PLANTED)
    with pytest.raises(ConfigError, match=r"^PROXID_GATEWAY__TRUST__PARTIES: a variable for a section") as refused:
        load(GatewayConfig, write(tmp_path, 'name = "g"' + TRUST))
    assert PLANTED not in refused.value.rule


def test_a_key_that_is_no_word_is_not_repeated(tmp_path: Path) -> None:
    for key in (r"\u001b[2J", "x" * 5_000):
        with pytest.raises(ConfigError, match="…: no such key"):
            load(GatewayConfig, write(tmp_path, f'name = "g"\n"{key}" = 1' + TRUST))
