"""Aliases: a key of party and period, a part of the person's own, and both go (DESIGN 9)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Verdict
from proxid.protocol.rights import Right
from proxid.runtime.store import connect
from tests.integration.gateway.test_rights import rights
from tests.support.trial import PEOPLE, Trial, running


async def stored(trial: Trial) -> tuple[set[bytes], int]:
    """`PARTY|PERIOD` of the keys that the gateway holds, and of how many people it holds the part."""
    client: Any = connect(trial.url("gateway"))
    keys = set(await client.hkeys("{gw}:ak"))
    parts = [key async for key in client.scan_iter(match="{gw}:au:*")]
    await client.aclose()
    return keys, len(parts)


async def day(trial: Trial) -> dict[str, set[str]]:
    """Who asked, as each party is told."""
    await trial.consent("aliased")
    await trial.ask("node1 question")
    await trial.settle()
    got = await trial.receive()
    return {party: {record.user for group in groups for record in group.records} for party, groups in got.items()}


@pytest.mark.slow
async def test_two_parties_and_two_days_know_nobody_by_one_name_and_keys_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.expiry._PAUSE", 0.05)
    async with running(tmp_path) as trial:
        first = await day(trial)
        trial.leap(60.0)
        second = await day(trial)
        names = [*first.values(), *second.values()]
        assert all(len(some) == len(PEOPLE) for some in names)
        assert len(set.union(*names)) == sum(map(len, names))
        keys, _ = await stored(trial)
        assert len(keys) == 4
        trial.leap(60.0)
        await day(trial)
        async with asyncio.timeout(20):
            while len((await stored(trial))[0]) > 4:  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.05)
        assert keys - (await stored(trial))[0], "a period after its end a key is destroyed"
        report = await trial.audit()
    assert report.verdict is Verdict.CLEAN, (report.violations, report.reasons)
    assert report.counts["aliases.recomputed"] == 6 * len(PEOPLE)


async def test_an_erased_persons_alias_is_not_found_again(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await day(trial)
        client = rights(trial)
        await client.exercise(Right.ERASE, PEOPLE[1])
        await client.close()
        _, parts = await stored(trial)
        report = await trial.audit()
    assert parts == len(PEOPLE) - 1
    assert report.verdict is Verdict.CLEAN, (report.violations, report.reasons)
    assert report.counts["aliases.recomputed"] == 2 * (len(PEOPLE) - 1)
