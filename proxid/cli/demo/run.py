"""The demo's course (see `proxid.cli.demo`): provision, start, consent, replay under a live view, settle, audit."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from rich.console import Console

from device_sim.commands.common import open_households
from device_sim.replay import Pace, Replay
from proxid.cli.demo.knowledge import Knowledge, tell
from proxid.cli.demo.result import DemoResult
from proxid.cli.demo.tally import Watch
from proxid.cli.demo.trial import PARTIES, SLOT_SECONDS, DemoTrial
from proxid.cli.demo.view import DemoView
from proxid.clients.household.household import Household
from proxid.clients.subscriber.kept import read_groups
from proxid.errors import ChildError, ProxidError

CONCURRENCY: Final = 24
SETTLE_SECONDS: Final = 120.0
QUIET_SECONDS: Final = 6.0
"""After the last slot has closed: what it still held is released and delivered by then."""
AUDIT_SECONDS: Final = 120.0
AUDIT_REQUEST_SECONDS: Final = 0.1
"""What an audit may take: at least, and for each request, on a busy machine."""
_POLL_SECONDS: Final = 0.5


async def run_demo(trial: DemoTrial, console: Console) -> DemoResult:
    """Run it; the live view goes to `console`. Raises ChildError if a process fails; leaves no process behind."""
    view = DemoView(console, trial.options.k)
    try:
        view.say("writing keys and configurations, enrolling people")
        await asyncio.to_thread(trial.provision)
        view.say("starting gateway, main service and three third parties")
        # In this thread: what they start in turn ends with the thread that started it.
        trial.start()
        knowledge = await _replay(trial, view)
        # Slots go on closing; a group delivered between the auditor's readings of the two logs would confuse it.
        await asyncio.to_thread(trial.stop_parties)
        view.say("the witness cosigns the last heads of both logs")
        if await asyncio.to_thread(trial.witness().finish, AUDIT_SECONDS):
            raise ChildError("the witness could not cosign")
        view.say("the auditor reads both services' evidence")
        report = await _audit(trial)
        return _result(trial, report, knowledge)
    finally:
        view.close()
        await asyncio.to_thread(trial.stop)


async def _replay(trial: DemoTrial, view: DemoView) -> Knowledge:
    async with open_households(trial.devices()) as speakers, _watching(trial, view) as watch:
        await _consents(trial, speakers, view)
        view.say(f"people ask{trial.shortened}")
        events, options = trial.events(), trial.options
        replay = Replay(speakers, Pace(CONCURRENCY, options.rate, seconds=options.seconds), view.replayed)
        view.expect(len(events))
        await replay.run(events)
        failures = {**replay.summary.failed, **replay.summary.refused}
        if failures:
            raise ChildError(f"requests failed: {', '.join(sorted(failures))}")
        view.say("waiting until the last records are delivered" + (", and the epoch ends" if trial.ends else ""))
        await _settle(trial, watch)
        return watch.knowledge


async def _consents(trial: DemoTrial, speakers: Any, view: DemoView) -> None:
    limit, bundles = asyncio.Semaphore(CONCURRENCY), trial.bundles()

    async def choose(household: Household, user: str) -> None:
        async with limit:
            await household.consent(user, bundles[user])
            view.consented()

    view.say("people link their keys of the day and choose what they consent to")
    await asyncio.gather(*(choose(speakers[user], user) for user in trial.users))


@asynccontextmanager
async def _watching(trial: DemoTrial, view: DemoView) -> AsyncIterator[Watch]:
    watch = Watch(trial.auditor())

    async def poll() -> None:
        while True:
            try:
                view.seen(await asyncio.to_thread(watch.poll))
            except ProxidError:
                view.say("a service is away")
            await asyncio.sleep(_POLL_SECONDS)

    task = asyncio.create_task(poll())
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        watch.close()


async def _settle(trial: DemoTrial, watch: Watch) -> None:
    closes = max(0.0, trial.ends - time.time())
    deadline, seen, since = time.monotonic() + closes + SETTLE_SECONDS, -1, time.monotonic()
    closed = (time.time() // SLOT_SECONDS[-1] + 1) * SLOT_SECONDS[-1]
    while time.monotonic() < deadline:
        waits = time.time() < closed or (trial.ends and not watch.tally.events["EPOCH_CLOSED"])
        if watch.tally.events.total() != seen or not watch.tally.settled or waits:
            seen, since = watch.tally.events.total(), time.monotonic()
        if time.monotonic() - since > QUIET_SECONDS:
            return
        dead = trial.dead()
        if dead:
            raise ChildError(f"{dead[0]} has ended")
        await asyncio.sleep(_POLL_SECONDS)


async def _audit(trial: DemoTrial) -> dict[str, Any]:
    child = trial.audit()
    status = await asyncio.to_thread(child.finish, AUDIT_SECONDS + AUDIT_REQUEST_SECONDS * len(trial.events()))
    if status not in {0, 1}:
        raise ChildError("the auditor could not check")
    try:
        report = json.loads(child.output.read_text(encoding="utf-8"))
    except ValueError:
        raise ChildError("the auditor printed no report") from None
    assert isinstance(report, dict)
    return report


def _result(trial: DemoTrial, report: dict[str, Any], knowledge: Knowledge) -> DemoResult:
    feeds = {party: read_groups(trial.feed(party)) for party in PARTIES if trial.feed(party).exists()}
    told = next((tell(knowledge, party, groups) for party, groups in feeds.items()), None)
    return DemoResult(trial.options.people, report, feeds, told)
