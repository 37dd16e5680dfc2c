"""A trial whose days pass, and whose policy files change, when a test says so."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Report
from proxid.cli.main import main
from proxid.errors import Code, RefusedError
from proxid.runtime.provision.policies import govern
from proxid.runtime.store import connect
from tests.support.trial import Trial, policy_text, running

DAY = 86_400
ROLES = ("gateway", "main-service", "auditor")
SERVICES = ("main-service", "gateway")
CLOCKS = {Code.CLOCK_DOUBTED, Code.UPSTREAM_CLOCK_DOUBTED}


class Days(Trial):
    """A trial whose days pass when a test says so."""

    @property
    def epoch(self) -> int:
        return int(self.clocks["gateway"].wall() // DAY)

    async def next_day(self) -> Code | None:
        """An hour into the next day; nothing is started again. Why nobody is linked then, if nobody is."""
        self.leap(3600.0)
        return await self.linked()

    async def linked(self) -> Code | None:
        """Until somebody is linked; why nobody is."""
        async with asyncio.timeout(20):
            while True:
                try:
                    if (await self.device.session("person-0")).route.epoch == self.epoch:
                        return None
                except RefusedError as error:
                    if error.remote not in CLOCKS:  # each side first hears of the other that time has passed
                        return error.remote
                await asyncio.sleep(0.05)

    def says(self, parties: Sequence[str], k: int, *roles: str, **anonymiser: Any) -> None:
        """Policy files that say something else from now on."""
        text = policy_text(parties, k, **anonymiser)
        for role in roles or ROLES:
            (self.folder / role / "policy.toml").write_text(text)

    def accept(self) -> None:
        """The auditor accepts what its configuration says."""
        assert main(["policy", "accept", "--config", str(self.folder / "auditor/auditor.toml")]) == 0

    def take_over(self, *roles: str) -> None:
        """What services take over when they start: what their files say counts from the next epoch."""
        for role in roles or SERVICES:
            govern(self.config(role), self.epoch)

    async def dropped(self, party: str) -> None:
        """Until nothing waits for a party any more."""
        client = connect(self.url("gateway"))
        async with asyncio.timeout(20):
            while await client.zcard(f"{{gw}}:o:{party}"):  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.05)
        await client.aclose()

    async def bundles(self) -> list[str]:
        """Parties that a person's choice of everything grants something to."""
        session = await self.device.session("person-0")
        document = await self.device._policies.of(session.route.policy)
        return [grant.party for grant in document.bundles["everything"]]


@asynccontextmanager
async def days(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Days]:
    """A trial of days that runs, under a policy that its auditor accepts."""
    monkeypatch.setattr("gateway.timekeeping.PAUSE", 0.2)  # nobody waits ten seconds for a word of the time
    async with running(folder, Days) as trial:
        trial.accept()
        yield trial


def texts(report: Report) -> list[str]:
    return [violation.text for violation in report.violations]
