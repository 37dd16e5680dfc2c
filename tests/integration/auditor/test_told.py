"""Honest gateways whose parties are not told yet, or were told late: nobody is accused, and what is open is counted."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Report
from gateway.store.library import GatewayStore
from gateway.upstream import MainServiceClient
from proxid.errors import UpstreamError
from proxid.protocol.rights import Right
from proxid.runtime.store import connect
from tests.support.lies_epochs import DAY, patiently
from tests.support.split_house import House, clean, house
from tests.support.trial import PEOPLE

REST = PEOPLE[2:]


async def days(trial: House) -> None:
    """Most of a week passes, and others go on."""
    for clock in trial.clocks.values():
        clock.passed += 5 * DAY
    await patiently(lambda: trial.consent(people=REST))
    await trial.ask("news of today", REST)
    await trial.settle()


async def audited(trial: House) -> Report:
    """From nothing, and going on from the one before: both are clean, and say the same."""
    found = [await trial.audit(), await trial.audit(state=True)]
    for report in found:
        clean(report)
    assert found[0].believed.get("notices") == found[1].believed.get("notices")
    return found[0]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pairs", "split"])
async def test_a_party_that_comes_days_later_is_told_then(tmp_path: Path, form: str) -> None:
    """Of records that it got, and of some that it was sent and did not acknowledge."""
    async with house(tmp_path, form=form) as trial:
        await trial.evening()
        await trial.close()
        await trial.receive("acme")
        store = connect(trial.url("gateway"))
        assert await GatewayStore(store).take("globex", 0, 8)
        await store.aclose()
        await trial.exercise(Right.OBJECT, PEOPLE[0])
        await trial.exercise(Right.ERASE, PEOPLE[1])
        told = (await audited(trial)).believed["notices"]
        assert told == 4  # two parties of two people
        await days(trial)
        assert (await audited(trial)).believed["notices"] == told
        await trial.receive()
        assert "notices" not in (await audited(trial)).believed


@pytest.mark.slow
async def test_a_gateway_that_is_killed_before_an_objection_is_recorded_tells_of_it_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any, **__: Any) -> bytes:
        raise UpstreamError("as if")

    async with house(tmp_path, form="pairs") as trial:
        await trial.evening()
        await trial.receive()
        with monkeypatch.context() as patch:
            patch.setattr(MainServiceClient, "restrict", away)
            patch.setattr(MainServiceClient, "erase", away)
            for right, person in ((Right.OBJECT, PEOPLE[0]), (Right.ERASE, PEOPLE[1])):
                with pytest.raises(TimeoutError):  # asked for, and on the gateway's disk
                    async with asyncio.timeout(3):
                        await trial.exercise(right, person)
            assert (await trial.audit()).violations == []
            await trial.halt("gateway")
        await trial.serve("gateway")
        await trial.exercise(Right.ERASE, PEOPLE[1])
        await trial.exercise(Right.OBJECT, PEOPLE[0])
        assert (await audited(trial)).believed["notices"] == 4
        await trial.receive()
        assert "notices" not in (await audited(trial)).believed
