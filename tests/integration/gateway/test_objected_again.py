"""Who changes their mind about an objection while the main service is away: both do what was said last (11)."""

import asyncio
from pathlib import Path

import pytest

from gateway.store.steps import PREFIX
from main_service.store.library import PREFIX as SERVICE
from proxid.errors import UpstreamError
from proxid.protocol.rights import Right
from proxid.runtime.store import connect
from tests.integration.gateway.test_owed import object_once, told
from tests.support.split_house import clean, served
from tests.support.trial import Trial, running

OBJECT, RESUME = Right.OBJECT, Right.RESUME


async def objecting(trial: Trial) -> list[bool]:
    """Whether anybody objects at the gateway, and at the main service."""
    found = []
    for role, pattern in (("gateway", f"{PREFIX}:ob:*"), ("main-service", f"{SERVICE}:ob:*")):
        client = connect(trial.url(role))
        found.append(bool([name async for name in client.scan_iter(pattern)]))
        await client.aclose()
    return found


@pytest.mark.parametrize(
    ("before", "away", "objects"),
    [
        ([OBJECT], [RESUME, OBJECT], True),
        ([], [OBJECT, RESUME], False),
        pytest.param([OBJECT], [RESUME, OBJECT, RESUME], False, marks=pytest.mark.slow),
        pytest.param([], [OBJECT, RESUME, OBJECT], True, marks=pytest.mark.slow),
        pytest.param([OBJECT], [OBJECT], True, marks=pytest.mark.slow),
        pytest.param([], [RESUME], False, marks=pytest.mark.slow),
    ],
)
async def test_what_was_said_last_holds_at_both(
    tmp_path: Path, before: list[Right], away: list[Right], objects: bool
) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()
        for right in before:
            await object_once(trial, right)
        await trial.halt("main-service")
        for right in away:
            with pytest.raises(UpstreamError):
                await object_once(trial, right)
            if objects and right is RESUME and before:
                assert (await objecting(trial))[0], "until that is recorded"
        await trial.serve("main-service")
        await told(trial)
        assert await objecting(trial) == [objects, objects]
        await served(trial)
        await trial.ask("node0 question")
        await trial.settle()
        await trial.receive()
        clean(await trial.audit())


async def test_one_of_two_at_once_is_told_before_the_other(tmp_path: Path) -> None:
    """Each has its turn at the main service: what one takes back there is not what the other has begun."""
    async with running(tmp_path) as trial:
        await trial.consent()
        await object_once(trial)
        await asyncio.gather(*(object_once(trial, right) for right in (RESUME, OBJECT)), return_exceptions=True)
        await told(trial)
        gateway, service = await objecting(trial)
        assert gateway == service
        clean(await trial.audit())
