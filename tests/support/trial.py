"""Both services in this process, with real stores, keys, TLS and logs, and people who ask: for tests that look inside.

`Trial.lie` replaces a method of a running service; the classifier is fixed, so that groups form when a test wants.
"""

import asyncio
import datetime
import os
import signal
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from auditor.audit import Audit, AuditOptions
from auditor.config import AuditorConfig
from auditor.findings import Report
from auditor.plain import dumps, loads
from auditor.saved import Parts
from auditor.setup import logs_of, trust_of
from auditor.state import AuditState
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.classify import Classification, RequestType, load_default
from proxid.clients.household import enrolment
from proxid.clients.household.config import DeviceConfig, EnrolmentAuthorityConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.household import Household
from proxid.clients.household.state import HouseholdState
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.subscriber import open_subscriber
from proxid.runtime.clock import Clocks, uptime
from proxid.runtime.config import load
from proxid.runtime.provision import TrialOptions, init_trial
from proxid.runtime.provision.templates import Settings, render_policy
from proxid.runtime.store import connect
from proxid.runtime.store.embedded import EmbeddedStore
from tests.support.addresses import free_address

PEOPLE = tuple(f"person-{i}" for i in range(8))
PARTIES = ("acme", "globex")


class FixedClassifier:
    """Files every utterance under `node/leaf` of its first word; `secret …` is rejected."""

    version = "fixed-1"

    def classify(self, text: str) -> Classification:
        node = text.split(" ", 1)[0]
        if node == "secret":
            return Classification(type=None, confidence=0.0, path=(), masked=None, normalised=None, units=())
        return Classification(
            type=RequestType.GENERAL, confidence=1.0, path=("Home", node), masked=text, normalised=text, units=(node,)
        )

    def pipe(self, texts: Iterable[str]) -> Iterator[Classification]:
        return map(self.classify, texts)


def provision(
    folder: Path, people: Sequence[str] = PEOPLE, k: int = 2, anonymiser: Mapping[str, Any] | None = None, **shared: Any
) -> None:
    """Folders of a trial that makes pairs unless `anonymiser` says otherwise: groups form when a test wants."""
    gateway, service = free_address(), free_address()
    settings = Settings(
        gateway=gateway,
        main_service=service,
        shared={"appendfsync": "everysec", "shutdown_grace": 0.5, **shared},
        by_role={
            "gateway": {"rate_per_minute": 10_000, "metrics_listen": "127.0.0.1:0"},
            "main-service": {"metrics_listen": "127.0.0.1:0"},
            "auditor": {"require_witness": False},
        },
        anonymiser=_anonymiser(k, anonymiser or {}),
    )
    now = datetime.datetime.now(datetime.UTC)
    init_trial(folder, TrialOptions(PARTIES, ("household-1",), settings), now)
    authority = load(EnrolmentAuthorityConfig, folder / "ea/ea.toml")
    config = load(DeviceConfig, folder / "devices/household-1/device.toml")
    state = HouseholdState(config.data_dir)
    since = int((now - datetime.timedelta(days=30)).timestamp())
    issued = enrolment.issue(authority, enrolment.make_request(state, list(people)), since)
    assert config.trust.enrolment_authority is not None
    enrolment.accept(state, issued, config.trust.enrolment_authority)


def _anonymiser(k: int, chosen: Mapping[str, Any]) -> dict[str, Any]:
    return {"form": "pairs", "k": k, "min_text_users": 1, **chosen}


def policy_text(parties: Sequence[str], k: int, **anonymiser: Any) -> str:
    """A policy file that says what `provision` does, unless told otherwise."""
    return render_policy(tuple(parties), Settings(anonymiser=_anonymiser(k, anonymiser)))


class MovedClock:
    """A wall clock and a monotonic one, this machine's until a test moves them."""

    def __init__(self) -> None:
        self.set = self.passed = 0.0
        """Seconds by which the wall clock was set, and by which time has passed for both."""
        self.clocks = Clocks(self.wall, self.monotonic)

    def wall(self) -> float:
        return time.time() + self.set + self.passed

    def monotonic(self) -> float:
        return uptime() + self.passed


class Trial:
    """See the module; made by `running`."""

    classifier: Any = FixedClassifier()
    appendfsync = "always"
    """Of both stores."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.device: Household
        self.stores: dict[str, EmbeddedStore] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.clocks = {role: MovedClock() for role in ("gateway", "main-service", "device")}
        """What each goes by; a test moves them."""

    def config(self, role: str) -> Any:
        kinds = {"gateway": GatewayConfig, "main-service": MainServiceConfig, "auditor": AuditorConfig}
        config = load(kinds[role], self.folder / role / f"{role}.toml")
        if role == "auditor":
            return config
        return config.model_copy(update={"store_url": f"unix://{self.folder / role / 'data/store/store.sock'}"})

    def url(self, role: str) -> str:
        return self._urls[role]

    async def start(self, stack: AsyncExitStack) -> None:
        self._urls = {}
        for role in ("main-service", "gateway"):
            config = load(
                MainServiceConfig if role == "main-service" else GatewayConfig, self.folder / role / f"{role}.toml"
            )
            store = self.stores[role] = EmbeddedStore(config.data_dir / "store", self.appendfsync)
            self._urls[role] = stack.enter_context(store).url
        stack.callback(self._end_stores)
        for role in ("main-service", "gateway"):
            await self.serve(role)
        stack.push_async_callback(self.stop)
        config = load(DeviceConfig, self.folder / "devices/household-1/device.toml")
        self.device = Household(config, GatewayClient.open(config), self.clocks["device"].wall)
        stack.push_async_callback(self.device.close)

    async def serve(self, role: str) -> None:
        """Start a service (again)."""
        from gateway.server import serve as serve_gateway
        from main_service.server import serve as serve_main

        ready = asyncio.Event()
        kind = MainServiceConfig if role == "main-service" else GatewayConfig
        source = self.folder / role / f"{role}.toml"
        config = load(kind, source).model_copy(update={"store_url": self._urls[role]})
        common: Any = {"ready": lambda _: ready.set(), "source": source, "clocks": self.clocks[role].clocks}
        if role == "main-service":
            job = serve_main(config, classifier=self.classifier, **common)
        else:
            job = serve_gateway(config, **common)
        task = self._tasks[role] = asyncio.create_task(job)
        waiter = asyncio.create_task(ready.wait())
        await asyncio.wait({task, waiter}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            waiter.cancel()
            task.result()

    async def halt(self, role: str) -> None:
        """End a service without warning."""
        task = self._tasks.pop(role)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def stop(self) -> None:
        for role in ("gateway", "main-service"):
            if role in self._tasks:
                await self.halt(role)

    def _end_stores(self) -> None:
        """Each takes a tenth of a second, for which the other need not wait."""
        for store in self.stores.values():
            if store.pid is not None:
                os.kill(store.pid, signal.SIGTERM)

    def leap(self, at: float) -> None:
        """Time passes for everybody, to so many seconds after the gateway's next end of an epoch."""
        seconds, now = self.config("gateway").epoch_seconds, self.clocks["gateway"].wall()
        for clock in self.clocks.values():
            clock.passed += (now // seconds + 1) * seconds + at - now

    async def consent(self, bundle: str = "everything", people: Sequence[str] = PEOPLE) -> None:
        await asyncio.gather(*(self.device.consent(user, bundle) for user in people))

    async def ask(self, text: str, people: Sequence[str] = PEOPLE) -> None:
        await asyncio.gather(*(self.device.ask(user, text) for user in people))

    async def receive(self, *parties: str) -> dict[str, list[Any]]:
        """What parties get that is there now; every group is acknowledged."""
        got: dict[str, list[Any]] = {}
        for party in parties or PARTIES:
            config = load(PartyConfig, self.folder / f"parties/{party}/party.toml")
            async with open_subscriber(config) as subscriber:
                got[party] = [group async for group in subscriber.groups(False)]
        return got

    async def classified(self) -> None:
        """Until everything asked was taken up, or withheld."""
        main = connect(self._urls["main-service"])
        try:
            async with asyncio.timeout(20):
                while await main.zcard("{ms}:pending"):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        finally:
            await main.aclose()

    async def settle(self) -> None:
        """Until everything asked was dealt with, and every release is in the feeds."""
        main, gateway = connect(self._urls["main-service"]), connect(self._urls["gateway"])
        try:
            async with asyncio.timeout(20):
                quiet = 0
                while quiet < 3:
                    waiting = await main.zcard("{ms}:pending")
                    async for key in main.scan_iter(match="{ms}:pool:*:formed"):
                        waiting += await main.zcard(key)
                    outbox = int(await main.get("{ms}:outbox:n") or 0)
                    released = int(await gateway.get("{gw}:released") or 0)
                    quiet = quiet + 1 if waiting == 0 and outbox == released else 0
                    await asyncio.sleep(0.05)
        finally:
            await main.aclose()
            await gateway.aclose()

    async def busy(self, rounds: int = 2) -> None:
        """Consent, ask, settle, deliver: an honest evening."""
        await self.consent()
        for i in range(rounds):
            await self.ask(f"node{i} question")
        await self.settle()
        await self.receive()

    async def audit(self, **options: Any) -> Report:
        """An audit over gRPC.

        Args:
            options: of the audit; `state`: go on from the last one; `witness`: demand the witness; `stored`: what the
                parts of the audit know is written and read again after every event; `later`: by so many seconds.
        """
        return await asyncio.to_thread(self._audit, options)

    def _audit(self, options: dict[str, Any]) -> Report:
        import dataclasses

        config = self.config("auditor")
        state, witness = options.pop("state", False), options.pop("witness", False)
        stored, later = options.pop("stored", False), options.pop("later", 0.0)
        trust = dataclasses.replace(trust_of(config, pipeline=False), classifier=self.classifier)
        if witness:
            trust = dataclasses.replace(trust, witness=config.trust.witness)
        gateway, service = logs_of(config)
        kept = AuditState(config.data_dir / "audit", trust.opening) if state else None
        try:
            audit = Audit(
                trust, gateway, AuditOptions(**{"settle": 0.0, "owed": 0.0} | options),
                lambda: self.clocks["device"].wall() + later, kept,
            )  # fmt: skip
            if stored:

                def between(*_: object) -> None:
                    """As if each event ended one audit and began the next."""
                    audit._restore_parts(loads(Parts, dumps(Parts, audit._parts())))

                audit._options = dataclasses.replace(audit._options, progress=between)
            return audit.run(gateway, service)
        finally:
            gateway.close()
            service.close()
            if kept is not None:
                kept.close()


class WithClassifier(Trial):
    """A trial that reads requests as the product does."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.classifier = load_default()


@asynccontextmanager
async def running(
    folder: Path, kind: type[Trial] = Trial, morning: bool = False, **options: Any
) -> AsyncIterator[Trial]:
    """A trial whose services run.

    Args:
        morning: an hour after an epoch's end, so that what takes hours ends within the epoch, whenever the test is run.
    """
    provision(folder, **options)
    trial = kind(folder)
    if morning:
        trial.leap(3600.0)
    async with AsyncExitStack() as stack:
        await trial.start(stack)
        yield trial


async def run_command(*arguments: str) -> int:
    """A `proxid` command in a thread of this process: its exit status."""
    from proxid.cli.main import main

    return await asyncio.to_thread(main, list(arguments))
