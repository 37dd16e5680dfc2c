"""Nobody else of the machine stands where a household's agent is looked for (DESIGN 5.6)."""

import datetime
import socket
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from proxid.clients.agent import device_door
from proxid.clients.agent.server import page_listeners
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.home import Member
from proxid.clients.household.keys_lock import KeysLock
from proxid.clients.household.remote_home import agent_socket, open_home
from proxid.clients.household.state import HouseholdState
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.identity import Enrolment
from proxid.errors import ConfigError
from proxid.runtime.config import load
from proxid.runtime.provision import TrialOptions, init_trial
from tests.support.trial import run_command

AUTHORITY = SigningKey(bytes(32))


class Home:
    """Of an agent that is asked who is in it."""

    async def members(self) -> list[Member]:
        return []


def household(folder: Path) -> DeviceConfig:
    """Ann's."""
    init_trial(folder, TrialOptions(("acme",), ("home",)), datetime.datetime.now(datetime.UTC))
    config = load(DeviceConfig, folder / "devices/home/device.toml")
    state = HouseholdState(config.data_dir)
    state.add_enrolment(Enrolment.issue("ann", state.new_user("ann").public, 0, AUTHORITY), AUTHORITY.public)
    return config


def codes(folder: Path) -> int:
    return len([*folder.rglob("codes/*")])


def test_the_page_has_its_port_at_both_addresses_of_localhost_or_none() -> None:
    try:
        other = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("there is no IPv6 on this machine")
    with closing(other), pytest.raises(ConfigError, match="in use by another process"):
        page_listeners(f"127.0.0.1:{other.getsockname()[1]}")
    listeners = page_listeners("127.0.0.1:0")
    port = listeners[0].getsockname()[1]
    assert [one.getsockname()[:2] for one in listeners] == [("127.0.0.1", port), ("::1", port)]
    for one in listeners:
        one.close()


async def test_a_code_is_made_while_the_agent_runs_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = household(tmp_path)
    page = ("agent", "page", "--config", str(tmp_path / "devices/home/device.toml"), "-u", "ann")
    assert await run_command(*page) == 2
    assert "start it first" in capsys.readouterr().err and codes(tmp_path) == 0
    async with device_door.listening(Home(), agent_socket(config.data_dir), config.data_dir):  # type: ignore[arg-type]
        assert await run_command(*page) == 0
    assert codes(tmp_path) == 1


async def test_a_socket_in_a_folder_of_somebody_else_is_not_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    config = household(tmp_path / ("long" * 25))
    place, theirs = agent_socket(config.data_dir), tmp_path / "theirs"
    theirs.mkdir()
    place.parent.symlink_to(theirs)
    lock = KeysLock(config.data_dir)
    try:
        async with device_door.listening(Home(), theirs / place.name, theirs):  # type: ignore[arg-type]
            with pytest.raises(ConfigError, match="not a folder of this user"):
                async with open_home(config) as home:
                    await home.members()
    finally:
        lock.release()
