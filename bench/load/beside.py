"""What abuse costs others: answers beside hostile clients, and beside processes that burn as much processor time."""

import asyncio
import multiprocessing
import os
import time
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Final

from bench.load.asking import Devices, quantile
from bench.rights.hostile import abuse
from proxid.cli.demo.trial import DemoOptions, DemoTrial

CLIENTS: Final = 4
_START: Final = 5.0
"""Seconds in which a process of Python and its packages start."""
_SPAWN: Final = multiprocessing.get_context("spawn")


async def beside_abuse(trial: DemoTrial, devices: Devices, rate: float, seconds: int) -> float:
    """The 99th percentile of answers beside abuse, over the one beside processes that burn as much and connect nowhere.

    The first household is the hostile one, the others ask.
    """
    honest = len(trial.devices()) - 1
    hostile = _SPAWN.Process(target=_hostile, args=(trial.folder, trial.options, seconds + _START))
    hostile.start()
    slow, spent = await _p99(devices, rate, seconds, honest, hostile)
    burner = _SPAWN.Process(target=_burn, args=(spent / seconds, seconds + _START))
    burner.start()
    usual, _ = await _p99(devices, rate, seconds, honest, burner)
    return slow / usual


async def _p99(
    devices: Devices, rate: float, seconds: int, households: int, process: SpawnProcess
) -> tuple[float, float]:
    """Seconds of the slowest in a hundred answers, and the processor time that a process took meanwhile."""
    try:
        await asyncio.sleep(_START)
        devices.begin()
        before = _spent(process.pid)
        await devices.open(rate, seconds, households)
        spent = _spent(process.pid) - before
        await devices.end()
    finally:
        process.kill()
        process.join()
    return quantile([one.took for one in devices.asked], 0.99), spent


def _spent(pid: int | None) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _hostile(folder: Path, options: DemoOptions, seconds: float) -> None:
    asyncio.run(abuse(DemoTrial(folder, options), CLIENTS, seconds))


def _burn(share: float, seconds: float) -> None:
    """So many processors for so long, at most one."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.process_time()
        while time.process_time() - begun < 0.01:
            pass
        time.sleep(max(0.0, 0.01 / max(share, 0.01) - 0.01))
