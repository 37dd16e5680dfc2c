"""Workers are kept alive, stop with their parent, and share a port."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from proxid.errors import ChildError, ConfigError
from proxid.runtime.process.port import shared_port
from proxid.runtime.process.supervisor import Supervisor

DEADLINE = 20.0
WORKER = (
    "import sys, signal; from proxid.runtime.process.supervisor import stop_with_parent; stop_with_parent(); "
    "signal.pause()"
)
STUBBORN = "import signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True); signal.pause()"


async def until(condition: object) -> None:
    assert callable(condition)
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_killed_worker_is_replaced_and_all_end() -> None:
    supervisor, stop = Supervisor(lambda _: [sys.executable, "-c", WORKER], 2, os.environ, 10), asyncio.Event()
    running = asyncio.create_task(supervisor.run(stop))
    await until(lambda: len(supervisor.pids) == 2)
    first, second = supervisor.pids
    os.kill(first, signal.SIGKILL)
    await until(lambda: first not in supervisor.pids and alive(supervisor.pids[0]))
    assert supervisor.pids[1] == second
    pids = supervisor.pids
    stop.set()
    await running
    assert not any(alive(pid) for pid in pids)


async def test_worker_that_cannot_start_ends_all() -> None:
    """Worker 1 has nothing to complain of, and must not be left behind."""
    scripts = ["raise SystemExit(3)", WORKER]
    supervisor = Supervisor(lambda index: [sys.executable, "-c", scripts[index]], 2, os.environ, 10)
    async with asyncio.timeout(DEADLINE):
        with pytest.raises(ChildError, match="worker 0"):
            await supervisor.run(asyncio.Event())
    assert not any(alive(pid) for pid in supervisor.pids)


async def test_worker_that_ignores_the_signal_is_killed() -> None:
    supervisor, stop = Supervisor(lambda _: [sys.executable, "-c", STUBBORN], 1, os.environ, 0.2), asyncio.Event()
    running = asyncio.create_task(supervisor.run(stop))
    await until(lambda: bool(supervisor.pids))
    (pid,) = supervisor.pids
    stop.set()
    await running
    assert not alive(pid)


def test_worker_ends_when_its_parent_is_killed() -> None:
    parent = (
        "import asyncio, os, sys; from proxid.runtime.process.supervisor import Supervisor as S\n"
        "from proxid.runtime.observability.logging import configure_logging; configure_logging('test')\n"
        f"s = S(lambda _: [sys.executable, '-c', {WORKER!r}], 1, os.environ, 5)\n"
        "async def main():\n"
        "    task = asyncio.create_task(s.run(asyncio.Event()))\n"
        "    while not s.pids: await asyncio.sleep(0.01)\n"
        "    print(s.pids[0], flush=True); await task\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        process.kill()
    asyncio.run(until(lambda: not alive(worker)))


def test_shared_port_is_reserved_and_shared() -> None:
    with shared_port("127.0.0.1:0") as address:
        port = int(address.rpartition(":")[2])
        with socket.socket() as worker:
            worker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            worker.bind(("127.0.0.1", port))
            worker.listen()
            with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE):
                worker.accept()[0].close()
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # as another service's workers do
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigError), shared_port(f"127.0.0.1:{taken.getsockname()[1]}"):
            pass
