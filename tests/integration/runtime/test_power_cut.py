"""The power fails: what people and services were told is there afterwards, whatever `appendfsync` says."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Verdict
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.errors import Code, ObjectedError, RefusedError
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.store import connect
from tests.support.power import Power
from tests.support.trial import Trial, running

CHOSE, OBJECTS, ERASED = "person-0", "person-1", "person-2"
ROLES = ("main-service", "gateway")


class Everysec(Trial):
    """A trial whose stores may lose a second."""

    appendfsync = "everysec"

    async def next_day(self) -> None:
        """Until somebody is linked in it."""
        before = (await self.device.session(CHOSE)).route.epoch
        self.leap(3600.0)
        async with asyncio.timeout(30):
            while True:
                try:
                    if (await self.device.session(CHOSE)).route.epoch > before:
                        return
                except RefusedError as error:
                    # Each side first hears of the other that time has passed.
                    assert error.remote in {Code.CLOCK_DOUBTED, Code.UPSTREAM_CLOCK_DOUBTED}
                await asyncio.sleep(0.05)


def rights_of(trial: Trial) -> RightsClient:
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    return RightsClient(config, trial.device, trial.clocks["device"].wall)


async def acknowledged(power: Power, *acts: Awaitable[Any]) -> None:
    """Acts are done; while nothing gets onto a disk, nobody is told that one is."""
    power.hold()
    tasks = [asyncio.ensure_future(act) for act in acts]
    done, _ = await asyncio.wait(tasks, timeout=1.0)
    power.release()
    assert not done
    await asyncio.gather(*tasks)


async def lazy(trial: Trial) -> None:
    """Both stores sync when they like: a service that stops while it waits for the disk leaves `always` behind."""
    for role in ROLES:
        client = connect(trial.url(role))
        await client.config_set("appendfsync", "everysec")
        await client.aclose()


async def written(trial: Trial) -> None:
    """Something that nobody waits for."""
    for role in ROLES:
        client = connect(trial.url(role))
        assert await client.set("plain", 1)
        await client.aclose()


async def known(trial: Trial) -> list[bytes | None]:
    found = []
    for role in ROLES:
        client = connect(trial.url(role))
        found.append(await client.get("plain"))
        await client.aclose()
    return found


async def test_what_was_acknowledged_outlives_a_power_cut_and_what_was_only_written_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    power = Power(tmp_path, monkeypatch)
    async with running(tmp_path / "trial", Everysec) as trial:
        rights = rights_of(trial)
        await acknowledged(power, trial.next_day())
        await asyncio.gather(*(trial.device.session(user) for user in (OBJECTS, ERASED)))
        opened = await trial.device._gateway.parameters()
        await acknowledged(
            power,
            trial.device.consent(CHOSE, "everything"),
            rights.exercise(Right.OBJECT, OBJECTS),
            rights.accept(ERASED),
            trial.device.ask(CHOSE, "node question"),
        )
        await trial.ask("node question", (CHOSE, OBJECTS))
        await trial.settle()  # what is asked is classified a moment later, before the cut or after it
        held = await rights.access(CHOSE)
        await trial.stop()
        await lazy(trial)
        power.hold()
        await written(trial)
        assert await known(trial) == [b"1", b"1"]
        for role in ROLES:
            power.cut(trial.stores[role], trial.folder / role / "data/store")
        power.release()
        for role in ROLES:
            trial.stores[role].start()
            await trial.serve(role)
        assert await known(trial) == [None, None]
        assert replace(await trial.device._gateway.parameters(), time_ms=opened.time_ms) == opened
        again = await rights.access(CHOSE)
        assert again | {"made": 0} == held | {"made": 0}
        assert (await rights.status(ERASED))["erasure"] in {"accepted", "done"}
        with pytest.raises(RefusedError) as refused:
            await trial.device.consent(OBJECTS, "everything")
        assert refused.value.remote is ObjectedError.code
        await rights.exercise(Right.ERASE, ERASED)
        assert (await trial.audit()).verdict is Verdict.CLEAN
