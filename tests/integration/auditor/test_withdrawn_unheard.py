"""Who withdraws while the main service is away until the day is over is in contents all the same, until they go (7)."""

from pathlib import Path

import pytest

from proxid.errors import UpstreamError
from proxid.protocol.rights import Right
from tests.integration.gateway.test_owed import WITHDRAWS, another_epoch, consent_once, object_once, told
from tests.support.lies_epochs import patiently
from tests.support.split_house import House, clean, house


async def withdrawn_unheard(trial: House) -> None:
    """Their entries come when they have withdrawn; nobody takes what is in the feeds."""
    await trial.evening()
    await trial.halt("main-service")
    with pytest.raises(UpstreamError):
        await consent_once(trial, "nothing")
    trial.leap(1500)
    await trial.serve("main-service")
    await patiently(trial.device._fetch_route)
    await told(trial)
    await trial.over()


@pytest.mark.parametrize("how", [
    Right.OBJECT, pytest.param(Right.ERASE, marks=pytest.mark.slow), pytest.param(None, marks=pytest.mark.slow),
])  # fmt: skip
async def test_contents_of_who_had_withdrawn_and_goes_are_taken_back(tmp_path: Path, how: Right | None) -> None:
    async with house(tmp_path) as trial:
        await withdrawn_unheard(trial)
        if how is None:
            await patiently(lambda: trial.device.consent(WITHDRAWS, "everything"))
            await trial.device.consent(WITHDRAWS, "nothing")
        else:
            await patiently(lambda: object_once(trial, how, WITHDRAWS))
        clean(await trial.audit(state=True))
        for _ in range(3):
            await another_epoch(trial)
        await trial.receive()
        for state in (True, False):
            report = await trial.audit(state=state)
            clean(report)
    assert report.counts["dropped.withdrawn"] == 2
