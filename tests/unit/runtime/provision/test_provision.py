"""Key files, certificates, folders, and the exchange of public keys (DESIGN 2, 16)."""

import datetime
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from auditor.config import AuditorConfig, WitnessConfig
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.cli.init import command
from proxid.cli.main import main
from proxid.clients.household.config import DeviceConfig, EnrolmentAuthorityConfig
from proxid.clients.subscriber.config import PartyConfig
from proxid.errors import CredentialError, InputError, KeyInvalidError
from proxid.runtime.config import load
from proxid.runtime.provision import (
    Party,
    TrialOptions,
    import_public,
    init_party,
    init_trial,
    load_opening_key,
    load_secret,
    load_signing_key,
)
from proxid.runtime.provision.certificate import fingerprint, new_tls_key, request, sign_request, verify_issued
from proxid.runtime.provision.keyfile import OPENING, SECRET, SIGNING, create_key
from proxid.runtime.provision.templates import Settings

NOW = datetime.datetime.now(datetime.UTC)


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("trial")
    init_trial(directory, TrialOptions(("acme", "globex"), ("h1", "h2")), NOW)
    return directory


def private_files(directory: Path) -> list[Path]:
    return list(directory.rglob("*.key"))


def test_every_configuration_loads(trial: Path) -> None:
    gateway = load(GatewayConfig, trial / "gateway/gateway.toml")
    main_service = load(MainServiceConfig, trial / "main-service/main-service.toml")
    load(AuditorConfig, trial / "auditor/auditor.toml")
    load(WitnessConfig, trial / "witness/witness.toml")
    load(EnrolmentAuthorityConfig, trial / "ea/ea.toml")
    for party in ("acme", "globex"):
        load(PartyConfig, trial / f"parties/{party}/party.toml")
    for household in ("h1", "h2"):
        load(DeviceConfig, trial / f"devices/{household}/device.toml")
    assert gateway.trust.service == load_signing_key(trial / "main-service/signing.key").public
    assert main_service.trust.screener == load_signing_key(trial / "gateway/signing.key").public
    acme = main_service.trust.parties["acme"]
    assert acme.seal == load_opening_key(trial / "parties/acme/opening.key").public.data
    assert len(load_secret(trial / "gateway/alias.key")) == 32


def test_keys_are_their_owners_alone(trial: Path) -> None:
    files = private_files(trial)
    assert len(files) >= 20
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_main_service_knows_no_device_and_no_authority(trial: Path) -> None:
    config = load(MainServiceConfig, trial / "main-service/main-service.toml")
    assert {peer.role for peer in config.trust.peers} == {"gateway", "auditor", "witness"}
    assert config.trust.enrolment_authority is None
    with pytest.raises(CredentialError, match="no need"):
        import_public(Party.at(trial / "main-service"), [Party.at(trial / "devices/h1").public])


def test_again_adds_and_keeps(tmp_path: Path) -> None:
    init_trial(tmp_path, TrialOptions(("acme",), ("h1",)), NOW)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.suffix in {".key", ".crt"}}
    init_trial(tmp_path, TrialOptions(("acme", "globex"), ("h1", "h2")), NOW)
    assert {path: path.read_bytes() for path in before} == before
    gateway = load(GatewayConfig, tmp_path / "gateway/gateway.toml")
    assert set(gateway.trust.parties) == {"acme", "globex"}
    assert sum(peer.role == "device" for peer in gateway.trust.peers) == 2
    assert gateway.policy.parties == ("acme", "globex")


def test_edited_policy_is_kept(tmp_path: Path) -> None:
    options = TrialOptions(("acme",), ("h1",))
    init_trial(tmp_path, options, NOW)
    path = tmp_path / "gateway/policy.toml"
    path.write_text("parties = ['acme']\n[bundles.mine.acme]\ntypes = ['general']\n")
    init_trial(tmp_path, options, NOW)
    assert "mine" in load(GatewayConfig, tmp_path / "gateway/gateway.toml").policy.bundles


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "signing.key"
    create_key(path, SIGNING)
    load_signing_key(path)
    path.chmod(mode)
    with pytest.raises(KeyInvalidError, match="others"):
        load_signing_key(path)


def test_existing_key_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "signing.key"
    assert create_key(path, SIGNING)
    seed = load_signing_key(path).seed
    assert not create_key(path, SIGNING)
    assert load_signing_key(path).seed == seed


@pytest.mark.parametrize("kind", [OPENING, SECRET])
def test_key_of_another_kind_is_refused(tmp_path: Path, kind: str) -> None:
    create_key(tmp_path / "k", kind)
    with pytest.raises(KeyInvalidError, match="kind"):
        load_signing_key(tmp_path / "k")


@pytest.mark.parametrize("content", [b"", b"proxid-ed25519-seed", b"proxid-ed25519-seed AAAA\n", b"\x00" * 5000])
def test_malformed_key_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "k"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(KeyInvalidError):
        load_signing_key(path)


def test_missing_key_and_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(KeyInvalidError):
            load_signing_key(path)


def certificate(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_certificates_name_the_role(trial: Path) -> None:
    for folder, role, name, server in [
        ("gateway", "gateway", "gateway", True),
        ("main-service", "main-service", "main-service", True),
        ("devices/h1", "device", "h1", False),
        ("parties/acme", "party", "acme", False),
    ]:
        crt = certificate(trial / folder / "tls.crt")
        names = crt.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert names.get_values_for_type(x509.UniformResourceIdentifier) == [f"proxid:{role}/{name}"]
        assert names.get_values_for_type(x509.DNSName) == ([role, "localhost"] if server else [])
        uses = crt.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        assert (ExtendedKeyUsageOID.SERVER_AUTH in uses) == server
        assert Party.at(trial / folder).public.fingerprint == fingerprint((trial / folder / "tls.crt").read_bytes())


def test_ca_signs_no_malformed_or_unproven_request(trial: Path) -> None:
    ca_key, ca_crt = (trial / "ca/ca.key").read_bytes(), (trial / "ca/ca.crt").read_bytes()
    good = request(new_tls_key(), "device", "h9")
    verify_ok = sign_request(good, ca_key, ca_crt, NOW)
    assert verify_ok.startswith(b"-----BEGIN CERTIFICATE")
    for csr in (b"", good[:-40], request(new_tls_key(), "root", "x"), request(new_tls_key(), "device", "../x")):
        with pytest.raises(CredentialError):
            sign_request(csr, ca_key, ca_crt, NOW)


def test_foreign_certificate_is_not_installed(trial: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    init_trial(other, TrialOptions((), ("h1",)), NOW)
    ca = (trial / "ca/ca.crt").read_bytes()
    key = (trial / "devices/h1/tls.key").read_bytes()
    with pytest.raises(CredentialError, match="this CA"):
        verify_issued((other / "devices/h1/tls.crt").read_bytes(), key, ca)
    with pytest.raises(CredentialError, match="another key"):
        verify_issued((trial / "devices/h2/tls.crt").read_bytes(), key, ca)


def test_trusted_key_is_not_replaced_unnoticed(trial: Path, tmp_path: Path) -> None:
    impostor = init_party(tmp_path / "i", "main-service", "main-service", Settings(), "", NOW)
    with pytest.raises(CredentialError, match="another is trusted"):
        import_public(Party.at(trial / "devices/h1"), [impostor.public])


def test_folder_of_another_party_is_refused(trial: Path) -> None:
    with pytest.raises(InputError, match="another party"):
        init_party(trial / "devices/h1", "device", "h2", Settings(), "", NOW)


def test_each_party_on_its_own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exchange of docs/operations.md: keys stay where they are made; requests and public files travel."""

    def run(*arguments: str) -> None:
        assert main(["init", *arguments]) == 0

    monkeypatch.chdir(tmp_path)
    run("--role", "ca", "--out", "ca")
    names = {"ea": "ea", "gateway": "gateway", "main-service": "ms", "auditor": "auditor", "device": "h1"}
    for role, name in names.items():
        run("--role", role, "--name", name, "--parties", "", "--out", role)
    for role in ("gateway", "main-service", "auditor", "device"):
        run("--sign", f"{role}/tls.csr", "--ca", "ca", "--out", f"{role}.crt")
        run("--into", role, "--certificate", f"{role}.crt", "--ca-certificate", "ca/ca.crt")
    for role, known in {
        "gateway": ("ea", "main-service", "auditor", "device"),
        "main-service": ("gateway", "auditor"),
        "device": ("ea", "gateway", "main-service"),
    }.items():
        run("--into", role, *(part for other in known for part in ("--import", f"{other}/public.toml")))
    load(GatewayConfig, Path("gateway/gateway.toml"))
    load(MainServiceConfig, Path("main-service/main-service.toml"))
    assert load(DeviceConfig, Path("device/device.toml")).name == "h1"
    # MS is offered a device's public file by mistake.
    assert main(["init", "--into", "main-service", "--import", "device/public.toml"]) == 2


def test_command_needs_something_to_do() -> None:
    result = CliRunner().invoke(command, [])
    assert result.exit_code == 2


@pytest.mark.parametrize(
    "words",
    [
        ("trial", "--parties", "a b,c/d"),
        ("--role", "gateway", "--out", "trial", "--parties", "a b"),
        ("--role", "device", "--name", "../x", "--out", "trial"),
    ],
)
def test_what_is_no_name_is_refused_before_anything_is_written(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", *words]) == 2
    assert capsys.readouterr().err.startswith("proxid: input_invalid: a party's name must be")
    assert not (tmp_path / "trial").exists()
