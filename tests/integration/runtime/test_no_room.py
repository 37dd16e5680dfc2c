# ruff: noqa: ASYNC110, ASYNC220
"""A log that cannot be written makes its service wait and say so, and goes on when there is room: nothing is lost."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from redis.asyncio import Redis

from proxid.errors import ClockError, LogDamagedError, LogFullError
from proxid.evidence.events import EventType
from proxid.evidence.leaf import LeafHeader
from proxid.evidence.note import Verifier
from proxid.evidence.promise import Promise
from proxid.runtime.clock import Clocks, ClockWatch, uptime
from proxid.runtime.evidence_log.log import LeafLog
from proxid.runtime.evidence_log.promising import Promises
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.evidence_log.segments import read_leaves
from proxid.runtime.store.functions import FunctionLibrary
from tests.integration.runtime.test_evidence_writer import produce
from tests.support.evidence_process import KEY, ORIGIN, PREFIX

FULL = f"{PREFIX}:events:full"


def allow(pid: int, size: int) -> None:
    """No file of a process may grow beyond a size: what a full volume does, and a real process feels."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def until(client: Redis, full: bool) -> None:
    async with asyncio.timeout(30):
        while bool(await client.exists(FULL)) is not full or (not full and await client.xlen(f"{PREFIX}:events")):
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("size", [300, 5_000, 26_000])
async def test_what_waits_is_logged_when_there_is_room(
    client: Redis, store_url: str, tmp_path: Path, size: int
) -> None:
    """The leaves reach the first two, the tree the last one."""
    folder, count = tmp_path / "log", 0
    command = [sys.executable, "-m", "tests.support.evidence_process", store_url, str(folder)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None and child.stdout.readline() == b"ready\n"
        allow(child.pid, size)
        async with asyncio.timeout(60):
            while not await client.exists(FULL):
                await produce(client, 20)
                count += 20
                while await client.xlen(f"{PREFIX}:events") and not await client.exists(FULL):
                    await asyncio.sleep(0.005)
        await produce(client, 30)
        await asyncio.sleep(0.1)
        assert child.poll() is None and await client.xlen(f"{PREFIX}:events") >= 30
        allow(child.pid, resource.RLIM_INFINITY)
        await until(client, full=False)
        assert child.poll() is None
        # Killed while it has no room, it starts whole.
        allow(child.pid, size)
        await produce(client, 200)
        await until(client, full=True)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()  # type: ignore[union-attr]
    log = LeafLog(folder, ORIGIN, KEY, segment_bytes=20_000)
    numbers = [LeafHeader.decode(leaf.header).number for leaf in read_leaves(folder / "segments", 1, log.size + 1)]
    assert numbers == list(range(1, log.size + 1)) and count + 30 <= log.size <= count + 230
    log.close()


async def test_nothing_new_is_taken_meanwhile(client: Redis) -> None:
    from gateway.store.library import GatewayStore

    store = GatewayStore(client)
    await store.open()
    functions: FunctionLibrary = store._functions
    await client.set("{gw}:events:full", 1)
    keys = await client.dbsize()
    for name in ("gw_forward", "gw_link", "gw_consent"):
        with pytest.raises(LogFullError, match="the evidence folder cannot be written"):
            await functions.call(name, ("{gw}",), *["1"] * 22)
    assert await client.dbsize() == keys


async def test_a_service_whose_log_is_behind_shows_no_head_and_promises_nothing(client: Redis, tmp_path: Path) -> None:
    """By half the merge delay, as after a long stop; what waits for less is no reason."""
    log = LeafLog(tmp_path / "log", ORIGIN, KEY)
    log.close()
    reader = LogReader(tmp_path / "log", Verifier(ORIGIN, KEY.public))
    promises = Promises(client, PREFIX, reader, KEY, ORIGIN, ClockWatch(Clocks(lambda: 1.0 + uptime()), 120.0))
    now = int((await client.time())[0])
    await client.xadd(f"{PREFIX}:events", {"u": f"{now - 10}.5"}, id="1-0")
    head = await promises.head()
    assert Promise.decode(await promises.of(" 7", EventType.CONSENT, b"asked")).head == head
    assert await promises.of("", EventType.CONSENT, b"asked") == b"", "recorded by a service of before"
    await client.delete(f"{PREFIX}:events")
    await client.xadd(f"{PREFIX}:events", {"u": f"{now - 40}.5"}, id="1-0")
    promises._read -= 2
    for asked in (promises.head(), promises.of(" 7", EventType.CONSENT, b"asked")):
        with pytest.raises(LogFullError, match="in time"):
            await asked


async def test_many_who_need_the_head_at_once_have_it_looked_for_once(client: Redis, tmp_path: Path) -> None:
    promises = promises_by(Clocks(), client, tmp_path)
    await client.config_resetstat()
    gone = asyncio.create_task(promises.head())
    await asyncio.sleep(0)
    gone.cancel()  # that one caller goes costs the others nothing
    assert len(set(await asyncio.gather(*(promises.head() for _ in range(20))))) == 1
    assert (await client.info("commandstats"))["cmdstat_xrange"]["calls"] == 1


async def test_a_head_from_before_the_machine_slept_is_none_of_now(client: Redis, tmp_path: Path) -> None:
    """What was promised before is an hour old then, and a promise of now must not come with a head that lacks it."""
    slept = 0.0
    clocks = Clocks(lambda: 1.0 + uptime() + slept, lambda: uptime() + slept)
    promises = promises_by(clocks, client, tmp_path)
    await promises.head()
    now = int((await client.time())[0])
    await client.xadd(f"{PREFIX}:events", {"u": f"{now - 3600}.5"}, id="1-0")
    slept = 3600.0
    with pytest.raises(LogFullError, match="in time"):
        await promises.of(" 2", EventType.CONSENT, b"asked")


async def test_a_head_that_rots_leaves_the_one_before_for_as_long_as_that_covers_what_was_promised(
    client: Redis, tmp_path: Path
) -> None:
    """Another worker may have promised since: a promise of now that came with an older head would lack it."""
    slept = 0.0
    clocks = Clocks(lambda: 1.0 + uptime() + slept, lambda: uptime() + slept)
    promises = promises_by(clocks, client, tmp_path)
    head = await promises.head()
    (tmp_path / "log/checkpoint").write_bytes(b"rotten")
    slept = 10.0
    assert await promises.head() == head
    slept = 60.0
    with pytest.raises(LogDamagedError):
        await promises.head()


async def test_nothing_is_promised_by_a_clock_that_was_set(client: Redis, tmp_path: Path) -> None:
    """A day back, it would say that heads of before came later, which lack what is promised."""
    step = 0.0
    promises = promises_by(Clocks(lambda: 1.0 + uptime() + step), client, tmp_path)
    assert await promises.of(" 1", EventType.CONSENT, b"asked")
    step = -86_400.0
    with pytest.raises(ClockError):
        await promises.of(" 2", EventType.CONSENT, b"asked")
    step = 0.0
    assert await promises.of(" 2", EventType.CONSENT, b"asked")


def promises_by(clocks: Clocks, client: Redis, folder: Path) -> Promises:
    LeafLog(folder / "log", ORIGIN, KEY).close()
    reader = LogReader(folder / "log", Verifier(ORIGIN, KEY.public))
    return Promises(client, PREFIX, reader, KEY, ORIGIN, ClockWatch(clocks, 120.0))
