"""What was taken is known again for as long as it may be taken for fresh, however much clocks may differ by the policy:
whoever sends the same bytes again accuses nobody.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.rights import RightsClient
from proxid.errors import ProxidError, RefusedError, ResponderError
from proxid.protocol.rights import Right
from proxid.runtime.transport.retry import Attempts
from tests.support.aging import age
from tests.support.split_house import clean
from tests.support.trial import PEOPLE, Trial, running

SKEW = 900.0
LATER = 700.0
"""Seconds after which what was sent is fresh still, and what is remembered for five minutes is not."""


class Sent:
    """What a device sends of one kind; `again` sends all of it once more."""

    def __init__(self, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._calls: list[tuple[GatewayClient, tuple[Any, ...]]] = []
        self._honest = honest = getattr(GatewayClient, call)

        async def told(client: GatewayClient, *arguments: Any) -> Any:
            self._calls.append((client, arguments))
            return await honest(client, *arguments)

        monkeypatch.setattr(GatewayClient, call, told)

    async def again(self) -> None:
        for client, arguments in [*self._calls]:
            await self._honest(client, *(client.attempts() if isinstance(one, Attempts) else one for one in arguments))


async def on_with(trial: Trial) -> None:
    """Some time later, and both services agree on it."""
    await age(trial, LATER)
    await asyncio.sleep(1.5)


async def test_a_request_that_is_sent_again_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path, morning=True, clock_skew=SKEW) as trial:
        await trial.consent()
        sent = Sent("ask", monkeypatch)
        await trial.ask("node1 question")
        await trial.settle()
        await on_with(trial)
        await sent.again()
        await trial.settle()
        report = await trial.audit()
    clean(report)
    assert report.counts["requests"] == len(PEOPLE)


async def test_a_right_that_is_sent_again_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path, morning=True, clock_skew=SKEW) as trial:
        await trial.consent()
        client = RightsClient(trial.device._config, trial.device, trial.clocks["device"].wall)
        sent = Sent("right", monkeypatch)
        for right in (Right.OBJECT, Right.ACCESS):
            await client.exercise(right, PEOPLE[0])
        await on_with(trial)
        await sent.again()
        await client.close()
        clean(await trial.audit())


async def test_a_refusal_stays_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path, morning=True, clock_skew=SKEW) as trial:
        await trial.consent()
        sent = Sent("ask", monkeypatch)
        with monkeypatch.context() as patch:
            patch.setattr("main_service.requests.RequestPath._reply", failing)
            with pytest.raises(RefusedError):
                await trial.ask("node1 question", PEOPLE[:1])
        await on_with(trial)
        with pytest.raises(ProxidError):
            await sent.again()
        clean(await trial.audit())


async def failing(*_: Any) -> Any:
    raise ResponderError("as if")
