"""A store that is away or full: requests are refused, or answered without logging, as configured (DESIGN 12, 16)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis import Redis

from auditor.conduct import AuditCommand, run_audit
from auditor.findings import Verdict
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.household import Household
from proxid.errors import ProxidError, RefusedError, UpstreamError
from proxid.runtime.store.embedded import EmbeddedStore

SERVICES = {"gateway": "GATEWAY", "main-service": "MAIN_SERVICE"}
DEADLINE = 60.0
ATTEMPTS = 3
"""Enough to see that a household asks again; what it then says does not depend on how often it did."""


class Stores:
    """A store of our own for each service, so that it can be taken away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[str, EmbeddedStore] = {}

    def start(self, name: str) -> None:
        store = EmbeddedStore(self.folder / f"{name}-store")
        store.__enter__()
        self.running[name] = store

    def stop(self, name: str) -> None:
        self.running.pop(name).__exit__(None, None, None)


def patient(config: DeviceConfig) -> DeviceConfig:
    return config.model_copy(update={"attempts": ATTEMPTS})


@asynccontextmanager
async def running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[DemoTrial, Stores, Household]]:
    """A trial on stores of our own; yields with one user linked and consented."""
    trial, stores = DemoTrial(tmp_path / "trial", DemoOptions(people=3, form="pairs")), Stores(tmp_path)
    (tmp_path / "trial").mkdir()
    trial.provision()
    for name, prefix in SERVICES.items():
        stores.start(name)
        monkeypatch.setenv(f"PROXID_{prefix}__STORE_URL", stores.running[name].url)
    household = None
    try:
        trial.start()
        household = Household.open(patient(trial.devices()[0]))
        await household.consent(household.users[0], "everything")
        assert (await household.ask(household.users[0], "what is two plus two")).text
        yield trial, stores, household
    finally:
        if household is not None:
            await household.close()
        trial.stop()
        for name in list(stores.running):
            stores.stop(name)


async def ask_until_answered(household: Household) -> None:
    async with asyncio.timeout(DEADLINE):
        while True:
            try:
                assert (await household.ask(household.users[0], "what time is it")).text
            except ProxidError:
                await asyncio.sleep(0.2)
            else:
                return


def verdict(trial: DemoTrial) -> Verdict:
    """Of an audit, which demands that a witness has cosigned."""
    assert trial.witness().finish(60) == 0
    return run_audit(AuditCommand(trial.auditor(), keep=False)).verdict


@pytest.mark.parametrize("name", ["gateway", pytest.param("main-service", marks=pytest.mark.slow)])
async def test_refused_while_a_store_is_away_and_served_when_it_returns(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, monkeypatch) as (trial, stores, household):
        stores.stop(name)
        with pytest.raises((RefusedError, UpstreamError)):
            await household.ask(household.users[0], "what time is it")
        stores.start(name)
        await ask_until_answered(household)
        assert verdict(trial) is Verdict.CLEAN


@pytest.mark.parametrize("name", ["main-service", pytest.param("gateway", marks=pytest.mark.slow)])
async def test_refused_when_a_store_is_full(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path, monkeypatch) as (trial, stores, household):
        client = Redis.from_url(stores.running[name].url)
        client.config_set("maxmemory", 1)
        with pytest.raises((RefusedError, UpstreamError)):
            await household.ask(household.users[0], "what time is it")
        client.config_set("maxmemory", 0)
        await ask_until_answered(household)
        assert verdict(trial) is Verdict.CLEAN
