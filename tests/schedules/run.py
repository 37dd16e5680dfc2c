"""One seed from beginning to end: play its schedule, let everything work again, look at what came of it."""

import asyncio
import gc
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from auditor.audit import Audit, AuditOptions
from auditor.checks.c9_receipts import read_receipts
from auditor.findings import Report
from auditor.setup import logs_of, trust_of
from proxid.errors import Code
from proxid.runtime.clock import ALONE_SECONDS
from proxid.runtime.evidence_log.stream import counted
from proxid.runtime.store import connect
from tests.schedules.doubles import Doubles
from tests.schedules.judge import audited, counted_once, groups_once, headers, kept_back
from tests.schedules.pace import paced, patience
from tests.schedules.play import Play
from tests.schedules.script import PARTIES, PEOPLE, SERVICES, Script, script
from tests.schedules.world import PLACES, World, made, world

PACE: Final = 4.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a seed.

    Attributes:
        wrong: what may not be, in words; nothing if all is well. answered: requests. cost: seconds of the processor, of
            this process. counts: of the audit.
    """

    script: Script
    wrong: tuple[str, ...]
    answered: int
    cost: float
    refused: dict[str, int]
    counts: dict[str, int]
    verdict: str

    def __str__(self) -> str:
        return "\n".join([str(self.script), *(f"  ! {words}" for words in self.wrong), f"  refused {self.refused}"])


def run(seed: int, templates: Path, folder: Path) -> Outcome:
    """Play a seed.

    Args:
        templates: where trials to copy are made once. folder: of this one; made.
    """
    gc.unfreeze()  # what earlier services of this process froze is garbage
    with asyncio.Runner(loop_factory=paced(PACE)) as runner:
        return runner.run(_run(script(seed), templates, folder))


async def _run(found: Script, templates: Path, folder: Path) -> Outcome:
    begun, doubles = time.process_time(), Doubles()
    with doubles.at_work():
        async with world(made(templates, found.form), folder) as here:
            play = Play(here, doubles)
            try:
                for step in found.steps:
                    await play.step(step)
                await play.mend()
                await play.done()
                wrong = await _settled(here, play, found)
            finally:
                await play.close()
                await doubles.close()
            if here.ended():
                return Outcome(found, (*wrong, *play.told.wrong), 0, 0.0, dict(play.told.refused), {}, "not audited")
            report = await asyncio.to_thread(_audit, here)
            logs = [
                await _headers(here, role, prefix) for role, prefix in (("gateway", "{gw}"), ("main-service", "{ms}"))
            ]
    told = play.told
    wrong += [*told.wrong, *counted_once(told, *logs), *groups_once(folder, *logs), *kept_back(told, folder, logs[0])]
    wrong += audited(report, told)
    if doubles.most > PLACES:
        wrong.append(f"the gateway carries {doubles.most} questions at once, more than it may")
    cost = time.process_time() - begun
    return Outcome(
        found, tuple(wrong), len(told.answered), cost, dict(told.refused), dict(report.counts), report.verdict.value
    )


async def _settled(here: World, play: Play, found: Script) -> list[str]:
    """Everything works again and is at rest, and every party has what is there; what does not come to that."""
    wrong = await _answered(here, play)
    if found.ending is not None:
        await play.epoch(found.ending)
        wrong += await _answered(here, play)
    if not wrong:
        wrong += await _quiet(here)
        for party in PARTIES:
            play.receive(party)
        await play.done()
        wrong += await _quiet(here)
    return [*wrong, *here.ended()]


async def _answered(here: World, play: Play) -> list[str]:
    """Everybody who was not erased is answered again."""
    begun, waiting = time.monotonic(), [person for person in PEOPLE if person not in play.told.erased]
    last, waited = "", False
    while waiting and time.monotonic() - begun < patience():
        for person in list(waiting):
            before = dict(play.told.refused)
            if await play._ask(person, "news at last"):
                waiting.remove(person)
                continue
            last = str([name for name, n in play.told.refused.items() if n != before.get(name)])
            if Code.EPOCH_KEY_STALE.value in last and play.told.alone:
                await play.epoch(60.0)
            both = play.told.clocks >= {*SERVICES} and time.monotonic() - begun > patience() / 2
            if both and not waited and Code.CLOCK_DOUBTED.value in last:
                await play.time(ALONE_SECONDS)  # both were set: neither can tell which one stood still meanwhile
                waited = True
            if Code.NOT_REGISTERED.value in last and person in play.told.erasing:
                waiting.remove(person)  # erased, and not told so
        for role in SERVICES:
            await play.serve(role)  # as whoever supervises it would
        await asyncio.sleep(0.5)
    return [f"{len(waiting)} people are not answered any more: {last}"] if waiting else []


async def _quiet(here: World) -> list[str]:
    """Nothing waits any more at either service."""
    main, gateway = connect(here.url("main-service")), connect(here.url("gateway"))
    begun, quiet, left = time.monotonic(), 0, ""
    try:
        while quiet < 3 and time.monotonic() - begun < patience():
            waits = {
                "to be classified": await main.zcard("{ms}:pending"),
                "events of the gateway": await gateway.xlen("{gw}:events"),
                "events of the main service": await main.xlen("{ms}:events"),
                "open sessions": await gateway.zcard("{gw}:open"),
                "releases": int(await main.get("{ms}:outbox:n") or 0) - int(await gateway.get("{gw}:released") or 0),
            }
            async for key in main.scan_iter(match="{ms}:pool:*:formed"):
                waits["formed groups"] = waits.get("formed groups", 0) + await main.zcard(key)
            left = str({name: count for name, count in waits.items() if count})
            quiet = quiet + 1 if left == "{}" else 0
            await asyncio.sleep(0.3)
    finally:
        await main.aclose()
        await gateway.aclose()
    return [] if quiet >= 3 else [f"never at rest: {left}"]


async def _headers(here: World, role: str, prefix: str) -> Any:
    client = connect(here.url(role))
    size = (await counted(client, prefix)).size
    await client.aclose()
    return headers(here.folder / role / "data", size)


def _audit(here: World) -> Report:
    config = here.config("auditor")
    trust = replace(trust_of(config, pipeline=False), classifier=here.classifier)
    gateway, service = logs_of(config)
    held = [here.folder / who / "data" for who in ("devices/household-1", *(f"parties/{party}" for party in PARTIES))]
    presented = [receipt for folder in held if folder.exists() for receipt in read_receipts(folder)]
    options = AuditOptions(settle=0.0, receipts=presented)
    try:
        return Audit(trust, gateway, options, here.clocks["device"].wall).run(gateway, service)
    finally:
        gateway.close()
        service.close()
