"""The embedded store survives kills with its data, on every server program present (DESIGN 12, 16)."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from proxid.errors import ConfigError, StoreError
from proxid.runtime.folder import MAX_SOCKET_PATH, make_private, socket_path
from proxid.runtime.store import embedded
from proxid.runtime.store.connection import MIN_VERSION, connect, verify_server
from proxid.runtime.store.embedded import EmbeddedStore
from proxid.runtime.store.resolve import Server, available_servers, carried_server, version_of

DEADLINE = 30.0
COMMANDS = 40_000


def client(store: EmbeddedStore) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(store.socket))


@pytest.fixture(params=available_servers(), ids=lambda server: server.origin + "-" + server.program.name)
def server(request: pytest.FixtureRequest) -> Server:
    assert isinstance(request.param, Server)
    return request.param


def test_carried_server_is_there() -> None:
    program = carried_server()
    assert program is not None
    assert version_of(program) >= MIN_VERSION


def test_missing_program_has_no_version(tmp_path: Path) -> None:
    assert version_of(tmp_path / "none") == (0, 0)


def test_old_server_on_path_is_passed_over(tmp_path: Path) -> None:
    old = tmp_path / "redis-server"
    old.write_text("#!/bin/sh\necho 'Redis server v=7.0.15 sha=0'\n")
    old.chmod(0o755)
    servers = available_servers(lambda name: str(old) if name == "redis-server" else None)
    assert [found.origin for found in servers] == ["carried"]


async def test_a_server_that_keeps_nothing_or_is_too_old_is_refused(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path, "everysec") as store:
        shared = connect(store.url)
        await verify_server(shared)
        await shared.config_set("appendonly", "no")
        with pytest.raises(ConfigError, match="appendonly"):
            await verify_server(shared)
        await shared.aclose()

    class Old:
        async def info(self, section: str) -> dict[str, object]:
            return {"redis_version": "7.0.15", "aof_enabled": 1}

    with pytest.raises(ConfigError, match=r"7\.0\.15.*7\.2 or later"):
        await verify_server(Old())  # type: ignore[arg-type]


def test_data_survive_a_stop_and_the_settings_hold(tmp_path: Path, server: Server) -> None:
    with EmbeddedStore(tmp_path, "everysec", 64 * 1024 * 1024, server.program) as store:
        client(store).set("k", "v")
        settings = client(store).config_get("*")
        assert settings["appendonly"] == "yes"
        assert settings["appendfsync"] == "everysec"
        assert settings["maxmemory"] == str(64 * 1024 * 1024)
        assert settings["maxmemory-policy"] == "noeviction"
        assert tmp_path.stat().st_mode & 0o077 == 0
    assert store.pid is None
    with EmbeddedStore(tmp_path, program=server.program) as store:
        assert client(store).get("k") == b"v"
        assert client(store).config_get("appendfsync") == {"appendfsync": "always"}


async def test_killed_server_comes_back_with_its_data(tmp_path: Path, server: Server) -> None:
    """Every write acknowledged before the kill is there after it."""
    store = EmbeddedStore(tmp_path, program=server.program)
    async with store.running():
        connection = connect(store.url)
        acknowledged = 0
        for kill_at in (50, 120):
            while acknowledged < kill_at:
                acknowledged = await connection.incr("n")
            assert store.pid is not None
            killed = store.pid
            os.kill(killed, signal.SIGKILL)
            async with asyncio.timeout(DEADLINE):
                while store.pid in (None, killed) or not await answers(store):  # noqa: ASYNC110 - nothing signals it
                    await asyncio.sleep(0.01)
            assert int(await connection.get("n")) == acknowledged
        await connection.aclose()


async def answers(store: EmbeddedStore) -> bool:
    connection = connect(store.url)
    try:
        return bool(await connection.ping())
    except (redis.RedisError, OSError):
        return False
    finally:
        await connection.aclose()


CHILD = """
    import sys, pathlib, redis
    from proxid.runtime.store.embedded import EmbeddedStore
    store = EmbeddedStore(pathlib.Path(sys.argv[1]))
    store.start()
    redis.Redis(unix_socket_path=str(store.socket)).set("k", "v")
    print(store.pid, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("gone", [False, True], ids=["at-once", "after-it-ended"])
def test_killed_parent_leaves_no_second_server(tmp_path: Path, gone: bool) -> None:
    """The next start waits for, or stops, what a killed parent left, and finds the data."""
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        left = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
    if gone:
        wait_for_end(left)
    with EmbeddedStore(tmp_path) as store:
        assert store.pid != left
        assert client(store).get("k") == b"v"
        assert not Path(f"/proc/{left}").exists() or is_zombie(left)


def wait_for_end(pid: int) -> None:
    for _ in range(int(DEADLINE * 100)):
        if not Path(f"/proc/{pid}").exists() or is_zombie(pid):
            return
        subprocess.run(["sleep", "0.01"], check=True)
    raise AssertionError("the server outlived its parent")


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_one_folder_has_one_owner(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path), pytest.raises(ConfigError, match="in use"):
        EmbeddedStore(tmp_path).start()
    with EmbeddedStore(tmp_path):
        pass


def test_long_path_gets_a_short_socket(tmp_path: Path) -> None:
    folder = tmp_path / ("d" * 120)
    with EmbeddedStore(folder) as store:
        assert len(os.fsencode(store.socket)) <= MAX_SOCKET_PATH
        assert store.socket == socket_path(folder)
        assert store.socket.parent.stat().st_mode & 0o077 == 0
        assert client(store).ping()
    store.socket.parent.rmdir()


def test_folder_with_blanks_and_quotes(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / 'a "b" \\c') as store:
        assert client(store).ping()


def test_folder_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    for path in ("file", "link"):
        with pytest.raises(ConfigError):
            make_private(tmp_path / path)


def test_program_that_ends_is_an_error_and_frees_the_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="ended"):
        EmbeddedStore(tmp_path, program=Path("/bin/false")).start()
    with EmbeddedStore(tmp_path) as store:
        assert client(store).ping()


def test_full_store_refuses_writes_and_evicts_nothing(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path, "everysec", 4 * 1024 * 1024) as store:
        connection = client(store)
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            for i in range(1000):
                connection.set(f"k{i}", bytes(50_000))
        assert connection.get("k0") == bytes(50_000)


class LongToLoad(EmbeddedStore):
    """Takes a moment for each command that was written; says that it loads after each thousand."""

    moment = 10
    """Microseconds."""

    def _configuration(self) -> str:
        return f"{super()._configuration()}key-load-delay {self.moment}\n"


def asked(store: EmbeddedStore) -> redis.Redis:
    """Says what it hears, and does not ask until it hears something else."""
    return redis.Redis(unix_socket_path=str(store.socket), retry=Retry(NoBackoff(), 0))


@pytest.fixture
def much(tmp_path: Path) -> Path:
    """A store's folder that takes seconds to load."""
    with EmbeddedStore(tmp_path / "store", "everysec") as store:
        writing = client(store).pipeline(transaction=False)
        for number in range(COMMANDS):
            writing.set(f"k{number}", number)
        writing.execute()
    return tmp_path / "store"


def test_a_store_that_still_loads_is_waited_for(much: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much it holds: each start that gave up would begin from the first byte again."""
    monkeypatch.setattr(embedded, "START_SECONDS", 0.5)
    with LongToLoad(much, "everysec") as store:
        assert client(store).dbsize() == COMMANDS


def test_one_that_a_killed_parent_left_loading_is_told_to_end(much: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left, deadline = LongToLoad(much, "everysec"), time.monotonic() + DEADLINE
    left.moment = 200

    def until_it_loads(store: EmbeddedStore) -> None:
        while time.monotonic() < deadline:
            try:
                asked(store).ping()
                raise AssertionError("it has loaded everything: give it more")
            except redis.BusyLoadingError:
                return
            except redis.ConnectionError:  # it does not listen yet
                continue

    with monkeypatch.context() as patched:
        patched.setattr(EmbeddedStore, "_wait_ready", until_it_loads)
        left.start()
    assert left._lock is not None
    os.close(left._lock)  # as the kernel does with what a killed process held
    monkeypatch.setattr(embedded, "STOP_SECONDS", 5.0)
    with EmbeddedStore(much, "everysec") as store:
        assert client(store).dbsize() == COMMANDS
