"""The embedded store (DESIGN 12): a Valkey or Redis server of its own, as a child, on a Unix socket.

It lies in `folder` (0700): `store.conf`, `server.log`, the append-only files, two locks. Acknowledged writes survive
a kill of the server or of its parent; with `appendfsync always` also a power cut, with `everysec` all but the last
second. A server that a killed parent left behind is stopped before a new one starts.
"""

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import redis
import structlog
from redis.backoff import NoBackoff
from redis.retry import Retry

from proxid.errors import ConfigError, StoreError
from proxid.regular import regular_bytes
from proxid.runtime.folder import make_private, socket_path, take_lock
from proxid.runtime.process.parent import die_with_parent
from proxid.runtime.store.resolve import resolve_server

START_SECONDS: Final = 60.0
"""How long a server may say nothing before it counts as failed; loading its data, which it says, may take longer."""
STOP_SECONDS: Final = 15.0
_WATCH_SECONDS: Final = 0.1
_POLL_SECONDS: Final = 0.01

_log = structlog.get_logger(__name__)


class EmbeddedStore:
    """A server that lives as long as the `with` block.

    Args:
        folder: its data. appendfsync: `always` or `everysec`. max_memory: bytes, after which writes are refused
            (nothing is ever evicted); None: no limit. program: the server program; resolved if None.
    """

    def __init__(
        self, folder: Path, appendfsync: str = "always", max_memory: int | None = None, program: Path | None = None
    ) -> None:
        self._folder = folder.absolute()
        self._appendfsync = appendfsync
        self._max_memory = max_memory
        self._program = program or resolve_server().program
        self._process: subprocess.Popen[bytes] | None = None
        self._lock: int | None = None
        self.socket = socket_path(self._folder)

    @property
    def url(self) -> str:
        """What `proxid.runtime.store.connect` takes."""
        return f"unix://{self.socket}"

    @property
    def pid(self) -> int | None:
        """Process id of the running server."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            ConfigError: the folder is in use by another process. StoreError: the server does not come up.
        """
        make_private(self._folder)
        make_private(self.socket.parent)
        self._lock = take_lock(self._folder / "owner.lock")
        if self._lock is None:
            raise ConfigError("data_dir: in use by another process")
        try:
            self._spawn()
            self._wait_ready()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the server after it has written everything, and give the folder free."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    async def watch(self) -> None:
        """Start the server again whenever it dies; runs until cancelled."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            process = self._process
            if process is None or process.poll() is None:
                continue
            _log.warning("store died", status=process.returncode)
            try:
                self._spawn()
                await asyncio.to_thread(self._wait_ready)
                _log.info("store is back")
            except StoreError:
                _log.error("store does not start")
                await asyncio.sleep(1.0)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Start, watch, and stop at the end."""
        self.start()
        watcher = asyncio.create_task(self.watch())
        try:
            yield self
        finally:
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)
            self.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _spawn(self) -> None:
        lock = _stop_leftover(self._folder / "server.lock", self.socket)
        config = self._folder / "store.conf"
        config.write_text(self._configuration(), encoding="utf-8")
        try:
            with (self._folder / "server.log").open("ab") as log:
                # The server inherits the lock: as long as it, or a child of it, lives, nobody else may open the data.
                self._process = subprocess.Popen(
                    [*die_with_parent(), self._program, config], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    cwd=self._folder, pass_fds=(lock,), start_new_session=True,
                )  # fmt: skip
        except OSError:
            raise StoreError("store program cannot be started") from None
        finally:
            os.close(lock)

    def _configuration(self) -> str:
        settings = {
            "port": "0",
            "unixsocket": _quote(self.socket),
            "unixsocketperm": "700",
            "dir": _quote(self._folder),
            "daemonize": "no",
            "appendonly": "yes",
            "appendfsync": self._appendfsync,
            "no-appendfsync-on-rewrite": "no",
            "save": '""',
            "rdbcompression": "no",  # keys and sealed bytes hardly shrink; a start reads them almost twice as fast
            "maxmemory-policy": "noeviction",
            "maxmemory": str(self._max_memory or 0),
            "databases": "1",
            "latency-tracking": "no",  # a histogram for each command, which nobody reads
            "loglevel": "notice",
            "logfile": '""',
            "always-show-logo": "no",
        }
        return "".join(f"{key} {value}\n" for key, value in settings.items())

    def _last_words(self) -> str:
        """Why the server says that it ended; it names files and offsets, never what they hold."""
        try:
            lines = regular_bytes(self._folder / "server.log")[-4096:].decode("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        said = next((line.partition(" # ")[2] for line in reversed(lines) if " # " in line), "")
        reason = "".join(char for char in said if char.isprintable())[:_WORDS]
        return f"{reason or 'it said nothing'} ({self._folder / 'server.log'}); {_MEND}"

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                raise StoreError(f"store ended while it was starting: {self._last_words()}")
            answers = _answers(self.socket)
            if answers:
                return
            if answers is None:
                deadline = time.monotonic() + START_SECONDS
            time.sleep(_POLL_SECONDS)
        raise StoreError("store did not answer in time")


_MEND: Final = "if its file has a torn end, `proxid mend store --config FILE` cuts that off"
_WORDS: Final = 240


def _quote(path: Path) -> str:
    text = str(path)
    if any(not char.isprintable() for char in text):
        raise ConfigError("data_dir: the path holds a control character")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _client(socket: Path) -> redis.Redis:
    once = Retry(NoBackoff(), 0)
    return redis.Redis(unix_socket_path=str(socket), socket_timeout=1, socket_connect_timeout=1, retry=once)


def _answers(socket: Path) -> bool | None:
    """Whether a server answers; None if it says that it is loading its data."""
    client = _client(socket)
    try:
        return bool(client.ping())
    except redis.BusyLoadingError:
        return None
    except (redis.RedisError, OSError):
        return False  # it does not listen yet
    finally:
        client.close()


def _stop_leftover(lock: Path, socket: Path) -> int:
    """The server's lock; whoever holds it is told to write everything and end. Raises StoreError."""
    deadline, asked = time.monotonic() + STOP_SECONDS, False
    while (descriptor := take_lock(lock)) is None:
        if not asked:
            asked = _ask_to_end(socket)
        if time.monotonic() > deadline:
            raise StoreError("an earlier store does not end")
        time.sleep(_POLL_SECONDS)
    return descriptor


def _ask_to_end(socket: Path) -> bool:
    if _answers(socket) is False:
        return False
    with suppress(redis.RedisError, OSError):
        _client(socket).shutdown(nosave=True)
        return True
    return False
