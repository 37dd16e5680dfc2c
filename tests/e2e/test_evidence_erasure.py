"""Erasure with every part a process of its own: nothing of the person in any file, nor in what processes printed.

The people's ids are numbers of one or two digits, which stand in the bytes of everybody else.
"""
# ruff: noqa: ASYNC110

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from device_sim.commands.common import open_households
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.clients.household.rights import RightsClient
from proxid.protocol.rights import Right
from tests.e2e.test_kills import audit, kill_service

WORDS = "planted words of somebody who leaves"


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[DemoTrial]:
    found = DemoTrial(tmp_path, DemoOptions(people=10, form="pairs"))
    found.provision()
    found.start()
    yield found
    found.stop()


def holders(trial: DemoTrial, needles: list[bytes]) -> list[str]:
    """Files of both services, of the auditor and of the witness, and all output, in which something is found."""
    found = []
    for name in ("gateway", "main-service", "auditor", "witness", "logs"):
        for path in (trial.folder / name).rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                found += [f"{needle!r} in {path.name} of {name}" for needle in needles if needle in data]
    return found


async def test_after_an_erasure_no_file_and_no_output_holds_anything_of_the_person(trial: DemoTrial) -> None:
    (config,) = trial.devices()
    victim = trial.users[3]
    async with open_households([config]) as speakers:
        household = speakers[victim]
        for user in trial.users:
            await household.consent(user, "everything")
            await household.ask(user, "what is the weather like")
        await household.ask(victim, WORDS)
        session = await household.session(victim)
        needles = [WORDS.encode(), session.prox_id.encode(), session.key.public, session.user.key.public]
        async with asyncio.timeout(20):
            while not holders(trial, needles):  # the stores write every second
                await asyncio.sleep(0.1)
        client = RightsClient(config, household)
        await client.exercise(Right.ERASE, victim)
        await client.close()
    assert holders(trial, needles) == []
    report = audit(trial)
    assert report["violations"] == [] and report["counts"]["gateway.ERASED"] == 1
    # Everybody else's evidence still opens: what no erasure covers would be a violation.
    assert holders(trial, needles) == []
    # Processes write when they end, too.
    trial.stop()
    assert holders(trial, needles) == []
    assert any(path.stat().st_size for path in trial.logs.iterdir())


async def test_an_erasure_goes_on_after_kills_in_its_middle(trial: DemoTrial) -> None:
    (config,) = trial.devices()
    victim = trial.users[3]
    async with open_households([config]) as speakers:
        for user in trial.users:
            await speakers[user].consent(user, "everything")
            await speakers[user].ask(user, "what is the weather like")
        client = RightsClient(config, speakers[victim])
        assert not await client.accept(victim)
        kill_service(trial, "gateway")
        await client.accept(victim)
        kill_service(trial, "main-service")
        receipt, _ = await client.exercise(Right.ERASE, victim)
        kill_service(trial, "gateway")
        assert (await client.exercise(Right.ERASE, victim))[0] == receipt
        await client.close()
    report = audit(trial)
    assert report["violations"] == [] and report["counts"]["gateway.ERASED"] == 1
