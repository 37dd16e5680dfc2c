"""A choice until it is withdrawn is given anew each epoch, and only while it means what it meant."""

import asyncio
from pathlib import Path

import pytest

from gateway import timekeeping
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.household import Household
from proxid.clients.household.lasting import CHANGED, RENEWED
from proxid.errors import EpochError, RefusedError
from proxid.protocol.consent import NOTHING
from proxid.runtime.config import load
from tests.support.trial import Trial, running

pytestmark = pytest.mark.usefixtures("often")
ANN, BOB, CAT = "person-0", "person-1", "person-2"


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clocks are compared often: a leap is seen at once."""
    monkeypatch.setattr(timekeeping, "PAUSE", 0.1)
    monkeypatch.setattr("proxid.runtime.store.clock.PAUSE", 0.05)


async def tomorrow(trial: Trial) -> Household:
    """The device, started anew in the next epoch."""
    trial.leap(1.0)
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    home = Household(config, GatewayClient.open(config), trial.clocks["device"].wall)
    async with asyncio.timeout(60):
        while True:
            try:
                await home.ask(CAT, "are the services there")
            except (EpochError, RefusedError):
                await asyncio.sleep(0.05)
            else:
                return home


def told_less(folder: Path) -> None:
    (file,) = folder.rglob("choice.json")
    text = file.read_text()
    assert '"acme|location|user_id", ' in text
    file.write_text(text.replace('"acme|location|user_id", ', ""))


async def test_it_is_given_anew_unless_it_means_more(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        home = trial.device
        await home.consent(ANN, "everything", until_withdrawn=True)
        await home.consent(BOB, "everything")
        await home.consent(CAT, "everything", until_withdrawn=True)
        await home.consent(CAT, NOTHING)
        assert (await home.standing(ANN)).lasting == RENEWED
        home = await tomorrow(trial)
        await home.ask(ANN, "two plus three")
        now = {user: await home.standing(user) for user in (ANN, BOB, CAT)}
        assert {user: (s.bundle, s.lasting) for user, s in now.items()} == {
            ANN: ("everything", RENEWED), BOB: (NOTHING, ""), CAT: (NOTHING, ""),
        }  # fmt: skip
        await home.close()
        # What she was told is less than what it means now: she has to be asked.
        told_less(tmp_path)
        home = await tomorrow(trial)
        found = await home.standing(ANN)
        assert (found.bundle, found.version, found.lasting) == (NOTHING, 0, CHANGED)
        await home.consent(ANN, "everything", until_withdrawn=True)
        assert (await home.standing(ANN)).lasting == RENEWED
        await home.close()
        await trial.settle()
        report = await trial.audit()
        assert report.violations == []
