"""Nothing that was acknowledged is lost, whatever process is killed (DESIGN 12)."""

import asyncio
import json
import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from device_sim.commands.common import open_households
from device_sim.replay import Pace, Replay, Summary
from proxid.cli.demo.tally import Watch
from proxid.cli.demo.trial import PARTIES, SERVICES, DemoOptions, DemoTrial
from proxid.clients.household.receipts import read_receipts
from proxid.clients.subscriber.kept import read_groups
from proxid.errors import ProxidError

PEOPLE = 30
SETTLE_SECONDS = 60.0
AUDIT_SECONDS = 180.0
"""That a busy machine may need to start an audit and end it."""
ATTEMPTS = 100
"""Of a device, five minutes: on a busy machine a service may take longer to start than a person would wait."""


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[DemoTrial]:
    found = DemoTrial(tmp_path, DemoOptions(people=PEOPLE, form="pairs"))
    found.provision()
    found.start()
    yield found
    found.stop()


def kill_service(trial: DemoTrial, name: str) -> None:
    """Kill a service and start it again, as whoever supervises it would."""
    child = trial.children[name]
    child.kill()
    child.start()


def kill_store(trial: DemoTrial, name: str) -> None:
    """Kill a service's store; the service starts it again."""
    wanted = str(trial.folder / name / "data/store")
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if ("valkey-server" in line and wanted in line) or ("redis-server" in line and wanted in line):
            os.kill(int(entry.name), signal.SIGKILL)
            return
    raise AssertionError("no store found to kill")


async def replay_with_faults(trial: DemoTrial, faults: list[tuple[Any, str]]) -> Summary:
    """Replay everything, with a fault at each even part of the requests."""
    events = trial.events()
    due = [(i + 1) * len(events) // (len(faults) + 1) for i in range(len(faults))]
    waiting = list(zip(due, faults, strict=True))

    def strike(summary: Summary) -> None:
        if waiting and summary.requests >= waiting[0][0]:
            _, (fault, name) = waiting.pop(0)
            fault(trial, name)

    patient = [config.model_copy(update={"attempts": ATTEMPTS}) for config in trial.devices()]
    async with open_households(patient) as speakers:
        for user, bundle in trial.bundles().items():
            await speakers[user].consent(user, bundle)
        summary = await Replay(speakers, Pace(12), strike).run(events)
    assert waiting == []
    return summary


async def settle(trial: DemoTrial) -> None:
    """Until all that was asked stands in heads (after a restart they come late), was dealt with, and nothing moves."""
    watch, quiet, total = Watch(trial.auditor()), 0, len(trial.events())
    try:
        async with asyncio.timeout(SETTLE_SECONDS):
            while quiet < 3:
                try:
                    tally = await asyncio.to_thread(watch.poll)
                    quiet = quiet + 1 if tally.settled and tally.events["RECEIVED"] >= total else 0
                except ProxidError:
                    quiet = 0
                await asyncio.sleep(0.3)
    finally:
        watch.close()


def audit(trial: DemoTrial) -> dict[str, Any]:
    assert trial.witness().finish(AUDIT_SECONDS) == 0
    child = trial.audit()
    assert child.finish(AUDIT_SECONDS) in {0, 1}, child.errors.read_text()
    report = json.loads(child.output.read_text())
    assert isinstance(report, dict)
    return report


def check(trial: DemoTrial, summary: Summary) -> None:
    """Every request answered once; each in the evidence once; each group held once by each party; audit clean."""
    total = len(trial.events())
    assert (summary.answered, dict(summary.failed), dict(summary.refused)) == (total, {}, {})
    receipts = [
        r for c in trial.devices() for r in read_receipts(c.data_dir / "receipts.jsonl") if r.kind == "response"
    ]
    assert len({receipt.session for receipt in receipts}) == total
    trial.stop_parties()
    report = audit(trial)
    assert report["violations"] == []
    counts = report["counts"]
    assert counts["requests"] == counts["received"] == total
    withheld = sum(count for name, count in counts.items() if name.startswith("withheld."))
    assert counts["released"] + withheld + counts["waiting"] == total
    assert counts["deliveries"] + counts["pending"] == len(PARTIES) * counts["groups"]
    kept = 0
    for party in PARTIES:
        lines = [json.loads(line) for line in trial.feed(party).read_text().splitlines()]
        assert (
            len({(line["epoch"], line["group"]) for line in lines}) == len(lines) == len(read_groups(trial.feed(party)))
        )
        kept += len(lines)
    # A party that is stopped may have kept a group and not acknowledged it yet.
    assert 0 < counts["deliveries"] <= kept <= counts["deliveries"] + counts["pending"]
    again = audit(trial)
    assert again["violations"] == [] and again["checked_before"]["3"] > 0


async def test_each_service_killed_once(trial: DemoTrial) -> None:
    summary = await replay_with_faults(trial, [(kill_service, name) for name in SERVICES])
    assert summary.retried > 0
    await settle(trial)
    check(trial, summary)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
async def test_every_process_killed_in_random_order(trial: DemoTrial, seed: int) -> None:
    faults = [(fault, name) for fault in (kill_service, kill_store) for name in SERVICES]
    random.Random(seed).shuffle(faults)
    summary = await replay_with_faults(trial, faults)
    await settle(trial)
    check(trial, summary)
