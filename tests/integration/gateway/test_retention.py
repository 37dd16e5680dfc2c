"""Retention (DESIGN 10.2, 11): links, evidence keys and feeds expire by an event, and then nobody reads them back.

Time passes for the store by its keys' times to live, for the gateway by its clock.
"""

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from auditor.findings import Verdict
from gateway.expiry import LinkExpiry
from gateway.identity import Screener
from gateway.server import screener_of
from gateway.store.library import GatewayStore
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.subscriber import open_subscriber
from proxid.protocol.rights import Right
from proxid.runtime.clock import Clocks
from proxid.runtime.config import load
from proxid.runtime.store import connect
from tests.integration.gateway.test_erasure_index import rights
from tests.integration.gateway.test_rights import dump
from tests.support.trial import PEOPLE, Trial, running

YEAR = 366 * 86_400
OPEN: Any = SimpleNamespace(current=AsyncMock())
"""As if the epoch of so much later had begun; the main service's clock is not moved."""


async def pass_time(client: Any, seconds: int) -> None:
    """Let a store be as it is so much later."""
    keys = [key async for key in client.scan_iter()]
    for key in keys:
        left = await client.ttl(key)
        if 0 <= left <= seconds:
            await client.delete(key)
        elif left > seconds:
            await client.expire(key, left - seconds)


def believed(config: Any, seconds: int) -> Screener:
    """A gateway whose clock says that so much time has passed, as the main service's does."""
    screener = screener_of(config, Clocks(lambda: time.time() + seconds))
    screener.watch.heard(screener.watch.offset_of(int(screener.clock() * 1000)), screener.watch.monotonic)
    return screener


async def later(trial: Trial, seconds: int, say: bool = True) -> None:
    """The gateway's expiry, so much later; without its event if `say` is not set."""
    client = connect(trial.url("gateway"))
    config = trial.config("gateway")
    screener = believed(config, seconds)
    if say:
        assert await LinkExpiry(screener, GatewayStore(client), OPEN).step()
    await pass_time(client, seconds)
    await client.aclose()


async def held(trial: Trial) -> bytes:
    client = connect(trial.url("gateway"))
    found = await dump(client)
    await client.aclose()
    return found


async def test_links_and_evidence_keys_expire_by_an_event_and_nothing_opens_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXID_AUDITOR__FLOORS__LINKS", "0")  # no epoch shows that time has passed
    async with running(tmp_path) as trial:
        await trial.busy(1)
        before = await trial.audit(state=True)
        assert before.violations == [] and before.counts["parts.expired"] == 0
        key = (await trial.device.session(PEOPLE[0])).key.public
        assert key in await held(trial)
        await later(trial, 2 * YEAR)
        assert key not in await held(trial)
        # A service whose clock was wrong, or that hides a day: nobody is accused, and nothing is clean.
        early = await trial.audit()
        assert (early.verdict, early.violations) == (Verdict.UNCHECKED, [])
        assert any("expired before the time" in reason.text for reason in early.missing)
        trial.clocks["device"].set += 2 * YEAR
        for state in (True, False):
            report = await trial.audit(state=state)
            assert report.verdict is Verdict.CLEAN and report.counts["gateway.EXPIRED"] >= 1
        # From the beginning, without keys: headers are all that is left, and every part is accounted for.
        assert report.counts["parts.expired"] > 0 and report.counts["events.unreadable"] > 0
        assert report.counts["requests"] == before.counts["requests"]
        again = await later_says(trial)
        assert not again


async def later_says(trial: Trial) -> bool:
    client = connect(trial.url("gateway"))
    screener = believed(trial.config("gateway"), 2 * YEAR)
    said = await LinkExpiry(screener, GatewayStore(client), OPEN).step()
    await client.aclose()
    return said


async def test_keys_that_go_without_a_word_are_missed(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await later(trial, 2 * YEAR, say=False)
        assert 2 in {v.rule for v in (await trial.audit()).violations}


async def test_an_acknowledged_group_leaves_the_feed_and_is_known_a_while(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        assert await fetched(trial, "acme") == []
        shown = await deliveries(trial)
        assert {one["party"] for one in shown} == {"acme", "globex"}
        assert all(one["acknowledged"] and one["time"] for one in shown)
        await later(trial, 8 * 86_400, say=False)
        assert await deliveries(trial) == []
        report = await trial.audit()
        assert report.violations == [] and report.counts["deliveries"] == 4


async def deliveries(trial: Trial) -> list[Any]:
    """What a person is told of what parties got."""
    client = rights(trial)
    _, share = await client.exercise(Right.ACCESS, PEOPLE[0])
    await client.close()
    found: list[Any] = json.loads(share)["deliveries"]
    return found


async def fetched(trial: Trial, party: str) -> list[Any]:
    """What a party gets that starts anew."""
    config = load(PartyConfig, trial.folder / f"parties/{party}/party.toml")
    fresh = config.model_copy(update={"data_dir": trial.folder / f"anew-{time.monotonic_ns()}"})
    async with open_subscriber(fresh) as subscriber:
        return [group async for group in subscriber.groups(False)]
