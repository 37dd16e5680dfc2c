"""The largest messages that gRPC puts together before anybody can refuse them, from many callers at once."""

import asyncio
import resource
import time
from pathlib import Path

import grpc
import pytest

from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.runtime.transport.channel import MAX_MESSAGE, TlsFiles, open_channel
from tests.e2e.test_certificates import main_service

CALLERS, SECONDS = 24, 10.0
METHOD = "/proxid.wire.v1.MainService/Forward"


def resident(pid: int) -> float:
    """MiB of memory that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


async def send(address: str, tls: TlsFiles, until: float) -> set[grpc.StatusCode]:
    """Send large messages on one connection after another; what they ended with."""
    found = set()
    while time.monotonic() < until:
        async with open_channel(address, tls, "main-service") as channel:
            call = channel.stream_stream(METHOD)(timeout=20)
            try:
                await call.write(bytes(MAX_MESSAGE - 100))
                await call.read()
            except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                found.add(await call.code())
    return found


@pytest.mark.slow
async def test_they_leave_no_heap_for_each_thread_behind(tmp_path: Path) -> None:
    """With the gateway's certificate, since the main service takes the largest messages from nobody else."""
    trial = DemoTrial(tmp_path / "trial", DemoOptions(people=3, form="pairs"))
    (tmp_path / "trial").mkdir()
    trial.provision()
    try:
        trial.start()
        folder, pid = trial.folder / "gateway", trial.children["main-service"].pid
        tls = TlsFiles(folder / "tls.key", folder / "tls.crt", folder / "ca.crt")
        before, until = resident(pid), time.monotonic() + SECONDS
        ended = await asyncio.gather(*(send(main_service(trial), tls, until) for _ in range(CALLERS)))
        assert grpc.StatusCode.RESOURCE_EXHAUSTED in set().union(*ended)
        grown = resident(pid) - before
        assert grown < 80, "about 45; a heap for each thread keeps 110 and more"
        assert trial.dead() == []
    finally:
        trial.stop()
