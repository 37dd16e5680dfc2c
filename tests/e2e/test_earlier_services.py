"""Services of an earlier release, with its folders, beside one of today's, as while a house is upgraded (processes).

Today's device, parties and auditor go by what the earlier release put on disk. Nobody is accused, neither while the two
run together nor once both are today's; what the older one says too little of is `unchecked`. What does not fit any more
is refused in words.
"""

import asyncio
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.household import Household
from proxid.clients.household.rights import RightsClient
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.subscriber import open_subscriber
from proxid.errors import ChildError, ProxidError
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.process.child import Child
from tests.support.trial import PARTIES, run_command

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
FITS = "af99d088"
"""Before the main service promised that it was told of an objection, among others: its messages and folders fit."""
DOES_NOT_FIT = "a97156e4"
"""0.2.0: its bundles give a party two kinds of requests of a person under two names."""
PEOPLE = tuple(f"person-{i}" for i in range(8))
OBJECTS, WITHDRAWS, GOES = PEOPLE[:3]
SERVICES = ("main-service", "gateway")
PATIENCE = 90.0
"""Seconds that a process, or a group, may take."""
PROVISION = "import sys, pathlib, tests.support.trial as t; t.provision(pathlib.Path(sys.argv[1]), tuple(sys.argv[2:]))"


def checked_out(release: str, folder: Path) -> Path:
    """What a release is run from; skips the test where the repository's history is not."""
    found = subprocess.run(["git", "-C", str(ROOT), "archive", release], capture_output=True, check=False)
    if found.returncode:
        pytest.skip(f"the repository's history is not here: there is no {release}")
    with tarfile.open(fileobj=BytesIO(found.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checked_out(FITS, tmp_path_factory.mktemp("release"))


class House:
    """A folder of that release, and its services, each of that release or today's."""

    def __init__(self, folder: Path, code: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.children: dict[str, Child] = {}
        self._older = {"PYTHONPATH": str(code)}
        command = [sys.executable, "-P", "-c", PROVISION, str(folder), *PEOPLE]
        subprocess.run(command, check=True, cwd=code, env={**os.environ, **self._older})
        self.logs.mkdir()

    def start(self, *names: str, older: str = "") -> None:
        """Start services, of which `older` is of that release."""
        for name in names:
            arguments = ["serve", name, "--config", str(self.folder / name / f"{name}.toml")]
            self.children[name] = Child(name, arguments, self.logs, self._older if name == older else {})
            self.children[name].start()
        for name in names:
            self.children[name].wait_ready(PATIENCE)

    def stop(self) -> None:
        for child in reversed(self.children.values()):
            child.stop()

    @asynccontextmanager
    async def household(self) -> AsyncIterator[Household]:
        config = load(DeviceConfig, self.folder / "devices/household-1/device.toml")
        device = Household(config, GatewayClient.open(config))
        try:
            yield device
        finally:
            await device.close()

    async def exercise(self, device: Household, right: Right, user: str) -> None:
        """Returns when it is carried out: who was told that it waits asks again."""
        config = load(DeviceConfig, self.folder / "devices/household-1/device.toml")
        client = RightsClient(config, device)
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    await client.exercise(right, user)
                    break
                except ProxidError:
                    await asyncio.sleep(0.5)
        await client.close()

    async def evening(self, question: str, people: tuple[str, ...] = PEOPLE) -> None:
        """Everybody asks the same, which leaves as a group, and every party gets it."""
        async with self.household() as device:
            await asyncio.gather(*(device.consent(user, "everything") for user in people))
            await asyncio.gather(*(device.ask(user, question) for user in people))
        for party in PARTIES:
            await self.received(party)

    async def received(self, party: str) -> None:
        config = load(PartyConfig, self.folder / f"parties/{party}/party.toml")
        async with asyncio.timeout(PATIENCE):
            while True:
                async with open_subscriber(config) as subscriber:
                    if [group async for group in subscriber.groups(False)]:
                        return
                await asyncio.sleep(0.2)

    async def accuses_nobody(self, capsys: pytest.CaptureFixture[str], *more: str) -> set[str]:
        """An audit by today's auditor, with all that devices and parties hold; codes of what is unchecked."""
        capsys.readouterr()
        held = [option for name in ("devices", "parties") for option in ("--receipts", str(self.folder / name))]
        config = str(self.folder / "auditor/auditor.toml")
        status = await run_command("audit", "--config", config, "--no-pipeline", "--json", *held, *more)
        said: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert said["violations"] == [] and status in (0, 2)
        assert said["counts"]["gateway.DELIVERED"] >= len(PARTIES)
        return {reason["code"] for reason in said["unchecked"]}


@pytest.mark.parametrize("older", SERVICES)
async def test_a_house_that_is_upgraded_service_by_service_accuses_nobody(
    tmp_path: Path, code: Path, capsys: pytest.CaptureFixture[str], older: str
) -> None:
    """An older main service promises nothing of an objection: today's gateway owes it the word until it is upgraded."""
    house = House(tmp_path / "house", code)
    try:
        house.start(*SERVICES, older=older)
        await house.evening("who won the football match")
        async with house.household() as device:
            await device.consent(WITHDRAWS, "nothing")
            await house.exercise(device, Right.ERASE, GOES)
            objecting = asyncio.create_task(house.exercise(device, Right.OBJECT, OBJECTS))
            if older == "gateway":
                await objecting
            assert await house.accuses_nobody(capsys) <= {"evidence_older"}
            house.children[older].stop()
            house.start(older)
            await objecting
        await house.evening("who invented the telephone", PEOPLE[3:])
        for more in ((), ("--fresh",)):
            assert await house.accuses_nobody(capsys, *more) <= {"evidence_older"}
    finally:
        house.stop()


def test_a_folder_that_does_not_fit_any_more_is_refused_in_words(tmp_path: Path) -> None:
    house = House(tmp_path / "house", checked_out(DOES_NOT_FIT, tmp_path / "code"))
    for name in SERVICES:
        with pytest.raises(ChildError, match="ended while it was starting"):
            house.start(name)
        said = house.children[name].errors.read_text()
        assert "config_invalid" in said and "write one_name = true" in said and "Traceback" not in said
