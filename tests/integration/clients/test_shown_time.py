"""What a device shows of its clock, with a gateway that tells its own."""

from pathlib import Path

from proxid.clients.household.shown_time import STEP
from tests.support.trial import running


async def test_a_device_whose_clock_is_off_shows_the_gateways_time(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        trial.clocks["device"].set = -80.0
        assert (await trial.device.ask("person-0", "news of today")).text
        assert abs(trial.device.shown.ms() / 1000 - trial.clocks["gateway"].wall()) <= STEP / 2 + 1
