"""The store's own file after a power cut: the reason is quoted, and a carried command mends a torn end."""

from pathlib import Path

import pytest
import redis

from proxid.cli.main import main
from proxid.errors import StoreError
from proxid.runtime.store.appendfile import newest
from proxid.runtime.store.embedded import EmbeddedStore
from tests.support.trial import provision


@pytest.fixture(scope="module")
def provisioned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gateway's folder whose store was written to and stopped."""
    folder = tmp_path_factory.mktemp("trial")
    provision(folder)
    with EmbeddedStore(folder / "gateway/data/store") as store:
        client = redis.Redis(unix_socket_path=str(store.socket))
        for number in range(50):
            client.set(f"key-{number}", b"value\r\n*1\r\n$3\r\nSET" * 3)
        with client.pipeline(transaction=True) as step:
            step.set("a", 1)
            step.set("b", 2)
            step.execute()
        client.close()
    return folder


@pytest.fixture
def gateway(provisioned: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(provisioned, tmp_path / "trial")) / "gateway"


def size(gateway: Path) -> int:
    with EmbeddedStore(gateway / "data/store") as store:
        client = redis.Redis(unix_socket_path=str(store.socket))
        count = int(client.dbsize())  # type: ignore[arg-type]
        client.close()
        return count


def file_of(gateway: Path) -> Path:
    path = newest(gateway / "data/store")
    assert path is not None
    return path


def test_a_zero_padded_end_is_named_with_its_command_which_mends_it(
    gateway: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = file_of(gateway).read_bytes()
    file_of(gateway).write_bytes(whole + bytes(4096))
    with pytest.raises(StoreError, match=r"Bad file format.*proxid mend store"):
        size(gateway)
    assert main(["mend", "store", "--config", str(gateway / "gateway.toml")]) == 0
    assert "4096 bytes cut off" in capsys.readouterr().out
    assert file_of(gateway).read_bytes() == whole
    assert size(gateway) == 52


@pytest.mark.parametrize("cut", [1, 3, 20, 60, 75])
@pytest.mark.parametrize("zeros", [0, 512])
def test_a_torn_end_loses_the_torn_step_alone(gateway: Path, cut: int, zeros: int) -> None:
    path = file_of(gateway)
    path.write_bytes(path.read_bytes()[:-cut] + bytes(zeros))
    assert main(["mend", "store", "--config", str(gateway / "gateway.toml")]) == 0
    assert size(gateway) == 50


@pytest.mark.parametrize("at", [10, 700, 2000])
def test_what_was_acknowledged_is_not_cut_off(gateway: Path, at: int, capsys: pytest.CaptureFixture[str]) -> None:
    path = file_of(gateway)
    data = bytearray(path.read_bytes())
    start = data.index(b"*3\r\n$3\r\nSET", at)
    data[start] ^= 1
    path.write_bytes(data)
    assert main(["mend", "store", "--config", str(gateway / "gateway.toml")]) == 2
    assert f"damaged at byte {start}" in capsys.readouterr().err
    assert path.read_bytes() == data


def test_a_store_in_use_is_not_mended(gateway: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EmbeddedStore(gateway / "data/store"):
        assert main(["mend", "store", "--config", str(gateway / "gateway.toml")]) == 2
    assert "in use" in capsys.readouterr().err
