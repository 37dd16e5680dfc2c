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
    # In turns, so that a machine that becomes slower meanwhile does it to both.
    slow, usual, half = list[float](), list[float](), seconds / 2
    share = 0.0
    for hostile in (True, False, False, True):
        target, what = (_hostile, (trial.folder, trial.options)) if hostile else (_burn, (share,))
        process = _SPAWN.Process(target=target, args=(*what, half + _START))
        process.start()
        took, spent = await _answers(devices, rate, half, honest, process)
        share = spent / half if hostile else share
        (slow if hostile else usual).extend(took)
    return quantile(slow, 0.99) / quantile(usual, 0.99)


async def _answers(
    devices: Devices, rate: float, seconds: float, households: int, process: SpawnProcess
) -> tuple[list[float], float]:
    """Seconds of all answers, and the processor time that a process took meanwhile."""
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
    return [one.took for one in devices.asked], spent


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
