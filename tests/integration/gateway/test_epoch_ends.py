"""A trial of twenty epoch ends under load, with clocks that are two seconds off (DESIGN 4.3): nobody is refused."""

import asyncio
import time
from itertools import product
from pathlib import Path

import pytest

from auditor.findings import Verdict
from gateway import timekeeping
from tests.support.trial import PEOPLE, Trial, running

ENDS, RATE = 20, 50
AROUND = 3.5
"""Seconds before and after an end for which people ask."""
OFF = [dict(zip(("gateway", "main-service", "device"), offs, strict=True)) for offs in product((2.0, -2.0), repeat=3)]


async def ask_around_an_end(trial: Trial) -> tuple[int, list[str]]:
    """How many questions were answered, and what others were told instead."""
    trial.leap(-AROUND)
    told: list[str] = []

    async def ask(number: int) -> None:
        try:
            await trial.device.ask(PEOPLE[number % len(PEOPLE)], f"node1 question {number}")
        except Exception as error:
            told.append(f"{type(error).__name__} {getattr(error, 'remote', '')}")

    begun, asked = time.monotonic(), []
    while (after := time.monotonic() - begun) < 2 * AROUND:
        while len(asked) < after * RATE:
            asked.append(asyncio.create_task(ask(len(asked))))
        await asyncio.sleep(0.5 / RATE)
    await asyncio.gather(*asked)
    return len(asked) - len(told), told


@pytest.mark.slow
async def test_nobody_is_refused_at_twenty_epoch_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timekeeping, "PAUSE", 1.0)
    answered, told = 0, []
    async with running(tmp_path) as trial:
        await trial.consent()
        for end in range(ENDS):
            for role, off in OFF[end % len(OFF)].items():
                trial.clocks[role].set = off
            done, others = await ask_around_an_end(trial)
            answered, told = answered + done, told + others
        await trial.settle()
        report = await trial.audit()
    assert told == []
    assert answered >= 0.9 * ENDS * RATE * 2 * AROUND
    assert (report.verdict, report.violations) == (Verdict.CLEAN, [])
