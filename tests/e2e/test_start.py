"""What a service says when it cannot start: the cause, and not the first port that happens to be taken (DESIGN 16)."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxid.cli.main import main
from proxid.runtime.process.child import Child
from tests.support.addresses import free_address

SECONDS = 60


@pytest.fixture
def taken() -> Iterator[str]:
    """An address that somebody else listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        found.listen()
        yield f"127.0.0.1:{found.getsockname()[1]}"


def trial(folder: Path, metrics: str) -> Path:
    addresses = ["--gateway", free_address(), "--main-service", free_address()]
    metrics_of = ["--gateway-metrics", metrics, "--main-service-metrics", metrics]
    assert main(["init", str(folder / "trial"), "--parties", "acme", *addresses, *metrics_of]) == 0
    return folder / "trial"


def serve(folder: Path, name: str, workers: int = 1) -> Child:
    config = folder / name / f"{name}.toml"
    child = Child(name, ["serve", name, "--config", str(config), "--workers", str(workers)], folder)
    child.errors.unlink(missing_ok=True)
    child.start()
    return child


def fault(child: Child) -> str:
    assert child.finish(SECONDS) == 2
    return child.errors.read_text()


def test_taken_metrics_port_is_named(tmp_path: Path, taken: str) -> None:
    folder = trial(tmp_path, taken)
    for name, workers in (("gateway", 2), ("main-service", 1)):
        said = fault(serve(folder, name, workers))
        assert f"metrics_listen: {taken} is in use" in said
        assert "never awaited" not in said


def test_unusable_key_is_named_before_any_port(tmp_path: Path, taken: str) -> None:
    folder = trial(tmp_path, taken)
    for name, file, workers in (
        ("main-service", "signing.key", 1), ("gateway", "alias.key", 2), ("gateway", "tls.crt", 1),
    ):  # fmt: skip
        path = folder / name / file
        path.rename(path.with_suffix(".away"))
        assert file in fault(serve(folder, name, workers))
        path.with_suffix(".away").rename(path)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_folder_in_use_is_named_before_any_port(tmp_path: Path, workers: int) -> None:
    folder = trial(tmp_path, free_address())
    first = serve(folder, "main-service")
    try:
        first.wait_ready()
        second = Child("second", ["serve", "main-service", "--config", str(folder / "main-service/main-service.toml"),
                                  "--workers", str(workers)], folder)  # fmt: skip
        second.start()
        assert "data_dir: in use" in fault(second)
    finally:
        assert first.stop() == 0


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_folder_named_like_a_package_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """`proxid init --role gateway --out gateway`, and then started from there."""
    folder = trial(tmp_path, free_address())
    monkeypatch.chdir(folder)
    child = serve(folder, "gateway", workers)
    try:
        assert "serves at" in child.wait_ready()
    finally:
        assert child.stop() == 0


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_each_fault_of_a_certificate_or_address_has_its_own_words(tmp_path: Path, taken: str, workers: int) -> None:
    folder = trial(tmp_path, free_address())
    own = folder / "gateway"
    other = trial(tmp_path / "other", free_address())
    garbage = b"-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n"
    for file, data, words in (
        ("tls.crt", b"garbage", "tls.certificate: tls.crt holds no certificate"),
        ("tls.crt", garbage, "tls.certificate: tls.crt holds no certificate"),
        ("ca.crt", b"", "tls.ca: ca.crt holds no certificate"),
        ("tls.key", b"garbage", "tls.key: tls.key holds no private key"),
        ("tls.key", (folder / "auditor/tls.key").read_bytes(), "tls.key: tls.key is not the key of tls.crt"),
        ("ca.crt", (other / "gateway/ca.crt").read_bytes(), "tls.certificate: tls.crt is not of the CA of ca.crt"),
    ):
        good = (own / file).read_bytes()
        (own / file).write_bytes(data)
        said = fault(serve(folder, "gateway", workers))
        assert words in said and ".cc:" not in said  # nor a line of gRPC's own
        (own / file).write_bytes(good)
    config = own / "gateway.toml"
    for address, words in ((taken, "is in use"), ("192.0.2.1:7443", "is not an address of this machine")):
        text = re.sub(r"(?m)^listen = .*$", f"listen = '{address}'", config.read_text())
        config.write_text(text)
        said = fault(serve(folder, "gateway", workers))
        assert f"listen: {address} {words}" in said and ".cc:" not in said
