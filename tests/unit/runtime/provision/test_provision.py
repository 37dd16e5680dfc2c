"""Key files, certificates, folders, and the exchange of public keys (DESIGN 2, 16)."""

import datetime
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from cli.init import command
from cli.main import main
from proxid.config import (
    AuditorConfig,
    DeviceConfig,
    EnrolmentAuthorityConfig,
    GatewayConfig,
    MainServiceConfig,
    PartyConfig,
    WitnessConfig,
    load,
)
from proxid.errors import CredentialError, InputError, KeyInvalidError
from proxid.provision import (
    HouseOptions,
    Party,
    import_public,
    init_house,
    init_party,
    load_opening_key,
    load_secret,
    load_signing_key,
)
from proxid.provision.certificate import fingerprint, new_tls_key, request, sign_request, verify_issued
from proxid.provision.keyfile import OPENING, SECRET, SIGNING, create_key
from proxid.provision.templates import Settings

NOW = datetime.datetime.now(datetime.UTC)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("house")
    init_house(directory, HouseOptions(("acme", "globex"), ("h1", "h2")), NOW)
    return directory


def private_files(directory: Path) -> list[Path]:
    return list(directory.rglob("*.key"))


def test_every_configuration_loads(house: Path) -> None:
    gateway = load(GatewayConfig, house / "gateway/gateway.toml")
    main_service = load(MainServiceConfig, house / "main-service/main-service.toml")
    load(AuditorConfig, house / "auditor/auditor.toml")
    load(WitnessConfig, house / "witness/witness.toml")
    load(EnrolmentAuthorityConfig, house / "ea/ea.toml")
    for party in ("acme", "globex"):
        load(PartyConfig, house / f"parties/{party}/party.toml")
    for household in ("h1", "h2"):
        load(DeviceConfig, house / f"devices/{household}/device.toml")
    assert gateway.trust.service == load_signing_key(house / "main-service/signing.key").public
    assert main_service.trust.screener == load_signing_key(house / "gateway/signing.key").public
    acme = main_service.trust.parties["acme"]
    assert acme.seal == load_opening_key(house / "parties/acme/opening.key").public.data
    assert len(load_secret(house / "gateway/alias.key")) == 32


def test_keys_are_their_owners_alone(house: Path) -> None:
    files = private_files(house)
    assert len(files) >= 20
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_main_service_knows_no_device_and_no_authority(house: Path) -> None:
    config = load(MainServiceConfig, house / "main-service/main-service.toml")
    assert {peer.role for peer in config.trust.peers} == {"gateway", "auditor", "witness"}
    assert config.trust.enrolment_authority is None
    with pytest.raises(CredentialError, match="no need"):
        import_public(Party.at(house / "main-service"), [Party.at(house / "devices/h1").public])


def test_again_adds_and_keeps(tmp_path: Path) -> None:
    init_house(tmp_path, HouseOptions(("acme",), ("h1",)), NOW)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.suffix in {".key", ".crt"}}
    init_house(tmp_path, HouseOptions(("acme", "globex"), ("h1", "h2")), NOW)
    assert {path: path.read_bytes() for path in before} == before
    gateway = load(GatewayConfig, tmp_path / "gateway/gateway.toml")
    assert set(gateway.trust.parties) == {"acme", "globex"}
    assert sum(peer.role == "device" for peer in gateway.trust.peers) == 2
    assert gateway.policy.parties == ("acme", "globex")


def test_edited_policy_is_kept(tmp_path: Path) -> None:
    options = HouseOptions(("acme",), ("h1",))
    init_house(tmp_path, options, NOW)
    path = tmp_path / "gateway/policy.toml"
    path.write_text("parties = ['acme']\n[bundles.mine.acme]\ntypes = ['general']\n")
    init_house(tmp_path, options, NOW)
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


def test_certificates_name_the_role(house: Path) -> None:
    for folder, role, name, server in [
        ("gateway", "gateway", "gateway", True),
        ("main-service", "main-service", "main-service", True),
        ("devices/h1", "device", "h1", False),
        ("parties/acme", "party", "acme", False),
    ]:
        crt = certificate(house / folder / "tls.crt")
        names = crt.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert names.get_values_for_type(x509.UniformResourceIdentifier) == [f"proxid:{role}/{name}"]
        assert names.get_values_for_type(x509.DNSName) == ([role, "localhost"] if server else [])
        uses = crt.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        assert (ExtendedKeyUsageOID.SERVER_AUTH in uses) == server
        assert Party.at(house / folder).public.fingerprint == fingerprint((house / folder / "tls.crt").read_bytes())


def test_ca_signs_no_malformed_or_unproven_request(house: Path) -> None:
    ca_key, ca_crt = (house / "ca/ca.key").read_bytes(), (house / "ca/ca.crt").read_bytes()
    good = request(new_tls_key(), "device", "h9")
    verify_ok = sign_request(good, ca_key, ca_crt, NOW)
    assert verify_ok.startswith(b"-----BEGIN CERTIFICATE")
    for csr in (b"", good[:-40], request(new_tls_key(), "root", "x"), request(new_tls_key(), "device", "../x")):
        with pytest.raises(CredentialError):
            sign_request(csr, ca_key, ca_crt, NOW)


def test_foreign_certificate_is_not_installed(house: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    init_house(other, HouseOptions((), ("h1",)), NOW)
    ca = (house / "ca/ca.crt").read_bytes()
    key = (house / "devices/h1/tls.key").read_bytes()
    with pytest.raises(CredentialError, match="this CA"):
        verify_issued((other / "devices/h1/tls.crt").read_bytes(), key, ca)
    with pytest.raises(CredentialError, match="another key"):
        verify_issued((house / "devices/h2/tls.crt").read_bytes(), key, ca)


def test_trusted_key_is_not_replaced_unnoticed(house: Path, tmp_path: Path) -> None:
    impostor = init_party(tmp_path / "i", "main-service", "main-service", Settings(), "", NOW)
    with pytest.raises(CredentialError, match="another is trusted"):
        import_public(Party.at(house / "devices/h1"), [impostor.public])


def test_folder_of_another_party_is_refused(house: Path) -> None:
    with pytest.raises(InputError, match="another party"):
        init_party(house / "devices/h1", "device", "h2", Settings(), "", NOW)


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
        ("house", "--parties", "a b,c/d"),
        ("--role", "gateway", "--out", "house", "--parties", "a b"),
        ("--role", "device", "--name", "../x", "--out", "house"),
    ],
)
def test_what_is_no_name_is_refused_before_anything_is_written(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", *words]) == 2
    assert capsys.readouterr().err.startswith("proxid: input_invalid: a party's name must be")
    assert not (tmp_path / "house").exists()
