"""Retention (DESIGN 10.2, 11): links, evidence keys and feeds expire by an event, and then nobody reads them back.

Time passes for the store by its keys' times to live, for the gateway by its clock.
"""

import time
from pathlib import Path
from typing import Any

from gateway.expiry import LinkExpiry
from gateway.screener import Screener
from gateway.server import screener_of
from gateway.store import GatewayStore
from proxid.clock import Clocks
from proxid.config import PartyConfig, load
from proxid.party.subscriber import open_subscriber
from proxid.store import connect
from tests.integration.test_evidence_rights import dump
from tests.support.house import PEOPLE, House, running

YEAR = 366 * 86_400


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


async def later(house: House, seconds: int, say: bool = True) -> None:
    """The gateway's expiry, so much later; without its event if `say` is not set."""
    client = connect(house.url("gateway"))
    config = house.config("gateway")
    screener = believed(config, seconds)
    if say:
        assert await LinkExpiry(screener, GatewayStore(client)).step()
    await pass_time(client, seconds)
    await client.aclose()


async def held(house: House) -> bytes:
    client = connect(house.url("gateway"))
    found = await dump(client)
    await client.aclose()
    return found


async def test_links_and_evidence_keys_expire_by_an_event_and_nothing_opens_any_more(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        before = await house.audit(state=True)
        assert before.violations == [] and before.counts["parts.expired"] == 0
        key = (await house.device.session(PEOPLE[0])).key.public
        assert key in await held(house)
        await later(house, 2 * YEAR)
        assert key not in await held(house)
        for state in (True, False):
            report = await house.audit(state=state)
            assert report.violations == [] and report.counts["gateway.EXPIRED"] >= 1
        # From the beginning, without keys: headers are all that is left, and every part is accounted for.
        assert report.counts["parts.expired"] > 0 and report.counts["events.unreadable"] > 0
        assert report.counts["requests"] == before.counts["requests"]
        again = await later_says(house)
        assert not again


async def later_says(house: House) -> bool:
    client = connect(house.url("gateway"))
    screener = believed(house.config("gateway"), 2 * YEAR)
    said = await LinkExpiry(screener, GatewayStore(client)).step()
    await client.aclose()
    return said


async def test_keys_that_go_without_a_word_are_missed(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        await later(house, 2 * YEAR, say=False)
        assert 2 in {v.rule for v in (await house.audit()).violations}


async def test_an_acknowledged_group_leaves_the_feed_by_an_event(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        shown = await fetched(house, "acme")
        assert len(shown) == 2  # still there, for a party that lost what it had
        await later(house, 8 * 86_400)
        assert await fetched(house, "acme") == []
        report = await house.audit()
        assert report.violations == []
        assert report.counts["gateway.EXPIRED"] == 1 and report.counts["deliveries"] == 4


async def fetched(house: House, party: str) -> list[Any]:
    """What a party gets that starts anew."""
    config = load(PartyConfig, house.folder / f"parties/{party}/party.toml")
    fresh = config.model_copy(update={"data_dir": house.folder / f"anew-{time.monotonic_ns()}"})
    async with open_subscriber(fresh) as subscriber:
        return [group async for group in subscriber.groups(False)]
