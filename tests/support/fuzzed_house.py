"""Every service of a trial, running, with what honest callers said to each: whom the fuzzer of calls talks to."""

import asyncio
import base64
import contextlib
import io
import json
import math
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import grpc
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from prometheus_client import REGISTRY, generate_latest

import auditor.serving.server
import gateway.server
import main_service.server
from auditor.commands import witness
from auditor.config import AuditorConfig, WitnessConfig
from auditor.serving.peers import exchange_heads
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.home import Home
from proxid.clients.household.remote_home import OPTIONS, RemoteHome, agent_socket, target
from proxid.crypto.sansig import SignedMessage
from proxid.errors import Code, RefusedError
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.observability.events import EVENTS, UNLISTED
from proxid.runtime.observability.logging import configure_logging
from proxid.runtime.transport.channel import TlsFiles, open_channel
from proxid.runtime.transport.parsing import Unparsed
from proxid.wire.v1 import common_pb2, device_pb2, main_service_pb2
from tests.support.agent import running_agent
from tests.support.auditing import auditor_serving, calling, held, provision_auditor, report_number
from tests.support.fuzzing.calls import DEVICE, Method, call, methods_of, parts_of
from tests.support.logs import logging_restored
from tests.support.trial import Trial, provision

PLANTED: Final = "zanzibarquetzal"
PEOPLE: Final = tuple(f"{PLANTED}-{i}" for i in range(6))
AT_THE_AGENT: Final = PEOPLE[-1]
ERASED: Final = PEOPLE[-2]
CALLERS: Final = {
    "device": "devices/household-1", "party": "parties/acme", "auditor": "auditor", "witness": "witness",
    "gateway": "gateway", "main-service": "main-service",
}  # fmt: skip
SERVERS: Final = {
    "gateway": gateway.server.SERVICES, "main-service": main_service.server.SERVICES,
    "auditor": auditor.serving.server.SERVICES, "agent": (DEVICE,),
}  # fmt: skip
GRPCS: Final = ("grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection")
"""gRPC's own services, at each server with certificates."""
_SILENT: Final = {"failed", "uncaught", "library message", "background task ended", UNLISTED}
"""Log lines that say of something that nobody foresaw it."""
MADE: Final[dict[str, list[Any]]] = {
    "/proxid.wire.v1.Evidence/Inclusion": [common_pb2.InclusionRequest(number=2, size=5)],
    "/proxid.wire.v1.Evidence/Consistency": [common_pb2.ConsistencyRequest(old=2, size=5)],
    **{
        f"/{DEVICE}/{name}": [message]
        for name, message in {
            "Ask": device_pb2.DeviceAskRequest(user=AT_THE_AGENT, text="two plus two", location="52.5,13.4"),
            "Consent": device_pb2.DeviceConsentRequest(user=AT_THE_AGENT, bundle="everything", until_withdrawn=True),
            "Rights": device_pb2.DeviceRightRequest(user=AT_THE_AGENT, right="access"),
            "Status": device_pb2.DeviceStatusRequest(),
        }.items()
    },
    "/grpc.health.v1.Health/Check": [health_pb2.HealthCheckRequest(service="")],
    "/grpc.health.v1.Health/List": [health_pb2.HealthListRequest()],
    "/grpc.health.v1.Health/Watch": [health_pb2.HealthCheckRequest(service="")],
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": [
        reflection_pb2.ServerReflectionRequest(list_services="x"),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="proxid.wire.v1.Gateway"),
        reflection_pb2.ServerReflectionRequest(
            file_containing_extension=reflection_pb2.ExtensionRequest(containing_type="x", extension_number=1)
        ),
    ],
}  # fmt: skip
"""What nobody says in an honest evening."""


@contextmanager
def overheard() -> Iterator["Overheard"]:
    """Within the block, whatever servers of this process are told is kept, as it came."""
    kept, before = Overheard(), Unparsed.intercept_service

    async def intercept(self: Unparsed, continuation: Any, details: Any) -> Any:
        handler = await before(self, continuation, details)
        return handler and handler._replace(request_deserializer=kept.by(details.method, handler.request_deserializer))

    with contextlib.ExitStack() as stack:
        Unparsed.intercept_service = intercept
        stack.callback(setattr, Unparsed, "intercept_service", before)
        yield kept


@dataclass
class Overheard:
    """Messages by path of their method; `listening`: what comes now is honest."""

    said: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    listening: bool = True

    def by(self, path: str, parse: Callable[[bytes], Any] | None) -> Callable[[bytes], Any]:
        def heard(data: bytes) -> Any:
            if self.listening and data not in self.said[path]:
                self.said[path].append(data)
            return data if parse is None else parse(data)

        return heard


@dataclass
class House:
    """See the module.

    Attributes:
        heard: what honest callers said. channels: by (server, caller).
    """

    trial: Trial
    heard: Overheard
    lines: io.StringIO
    agent: Home
    channels: dict[tuple[str, str], grpc.aio.Channel]
    _said: int = 0

    @property
    def methods(self) -> list[tuple[str, Method]]:
        """Every method of every server."""
        return [
            (server, method)
            for server, services in SERVERS.items()
            for method in methods_of(*services, *(GRPCS if server != "agent" else ()))
        ]

    def honest(self, method: Method) -> list[bytes]:
        """What an honest caller said, or might say."""
        return self.heard.said.get(method.path) or [made.SerializeToString() for made in MADE.get(method.path, ())]

    @property
    def genuine(self) -> set[bytes]:
        """Everything that somebody signed."""
        return {
            part for _, method in self.methods for data in self.honest(method) for part in parts_of(method.parsed(data))
        }

    async def begin(self) -> None:
        """What is done once: somebody is erased, somebody objects and takes that back."""
        device = self.trial.device
        await device.ask(ERASED, "what is one plus two")
        await self.agent.right(ERASED, Right.ERASE)
        await self.agent.ask(AT_THE_AGENT, "what is one plus two")
        await self.agent.right(AT_THE_AGENT, Right.OBJECT)
        # With another name in it, it would be as good.
        said = self.heard.said[f"/{DEVICE}/Rights"]
        said[:] = [data for data in said if b"erase" not in data]
        await device.offered(PEOPLE[0])
        await self.evening()

    async def evening(self, audit: bool = True) -> None:
        """Everybody does what there is to do; raises if an honest caller is not served.

        Args:
            audit: the logs are clean, too.
        """
        self.heard.listening = True
        device, self._said = self.trial.device, self._said + 1
        await self._clocks_relied_on()
        text = f"what is {self._said} plus {self._said}"
        for user in PEOPLE[:4]:
            await device.consent(user, "everything")
            await device.ask(user, f"node{self._said} {PLANTED}")
            assert (await device.ask(user, text)).text == f"It is {2 * self._said}."
        assert (await self.agent.ask(AT_THE_AGENT, text)).text
        await self.agent.right(AT_THE_AGENT, Right.RESUME)  # whoever reaches the socket may have objected
        await self.agent.consent(AT_THE_AGENT, "everything")
        assert json.loads(await self.agent.right(AT_THE_AGENT, Right.ACCESS))
        assert {member.user for member in await self.agent.members()} == set(PEOPLE)
        await self.trial.settle()
        await self.trial.receive()
        assert await asyncio.to_thread(self._witness) == {"cosigned"}
        if audit:
            report = await self.trial.audit()
            assert report.violations == [], report.violations
        await self._ask_the_auditor()
        self._forwarded()
        self.heard.listening = False

    async def _clocks_relied_on(self) -> None:
        """Until the main service has heard the gateway's time: the gateway's own word of before makes it doubt."""
        async with asyncio.timeout(60):
            while True:
                try:
                    await self.trial.device.ask(PEOPLE[0], "what is one plus two")
                    return
                except RefusedError as error:
                    if error.remote is not Code.UPSTREAM_CLOCK_DOUBTED:
                        raise
                    await asyncio.sleep(0.5)

    async def _ask_the_auditor(self) -> None:
        folder = self.trial.folder
        receipts = held(folder)
        async with calling(folder, "devices/household-1") as client:
            await client.present([(item.kind, item.session, item.message) for item in receipts[-20:]])
            answers = [item.message for item in receipts if item.kind == "response"]
            await client.judge(SignedMessage.decode(answers[-1]))
        await report_number(folder, 1)
        async with calling(folder, "auditor", load(AuditorConfig, folder / "auditor/auditor.toml").listen) as own:
            await own.report()
            await asyncio.to_thread(self._heads)

    def _witness(self) -> set[str]:
        """What `proxid witness --once` does, which is not done in a thread."""
        config = load(WitnessConfig, self.trial.folder / "witness/witness.toml")
        logs = witness._logs(config)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                done = {witness._cosign(name, *logs[name], False) for name in logs}
                witness._show(logs, config)
        finally:
            for _, log in logs.values():
                log.close()
        return done

    def _heads(self) -> None:
        config = load(AuditorConfig, self.trial.folder / "auditor/auditor.toml")
        tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
        accepted = (self.trial.folder / "auditor/tls.crt").read_bytes()
        exchange_heads(config.listen, tls, accepted, exchange_heads(config.listen, tls, accepted, []))

    def _forwarded(self) -> None:
        """What streams carry, one by one: both services' `Ask` takes the same, and honest callers do not call it."""
        said = self.heard.said
        batches = map(main_service_pb2.ForwardBatch.FromString, said["/proxid.wire.v1.MainService/Forward"])
        said["/proxid.wire.v1.MainService/Ask"] = [
            one.SerializeToString() for batch in batches for one in batch.requests
        ]
        said["/proxid.wire.v1.Gateway/Ask"] = said["/proxid.wire.v1.Gateway/Converse"]

    async def callers(self, server: str, method: Method, of: Collection[str]) -> list[str]:
        """Who of them may make a call: whom an honest message is not refused for who they are."""
        found = []
        for caller in [caller for where, caller in self.channels if where == server and caller in of]:
            outcome = await call(self.channels[server, caller], method, self.honest(method)[:1])
            if outcome.code is not Code.PEER_REFUSED:
                found.append(caller)
        # gRPC's own go by the list alone, whatever the role.
        return found if method.path.startswith("/proxid.") else found[:1]

    def logged(self) -> list[str]:
        """What is wrong with the log lines and metrics so far."""
        found = []
        for line in self.lines.getvalue().splitlines():
            event = json.loads(line)
            if event["event"] in _SILENT or event["event"] not in EVENTS:
                found.append(line)
        told = self.lines.getvalue() + generate_latest(REGISTRY).decode()
        return found + [f"{word!r} stands in a log line or a metric" for word in self.personal() if word in told]

    def personal(self) -> list[str]:
        """Words that no line may hold: names, what was said, pseudonyms, keys."""
        users = self.trial.device._users.values()
        sessions = self.trial.device._sessions.values()
        keys = [user.key.public for user in users] + [session.key.public for session in sessions]
        return [
            PLANTED, "plus", *(session.prox_id for session in sessions), *(key.hex() for key in keys),
            *(base64.b64encode(key).decode().rstrip("=") for key in keys),
        ]  # fmt: skip


@asynccontextmanager
async def fuzzed_house(folder: Path) -> AsyncIterator[House]:
    """Everything runs; an evening has passed. Nobody is told later, though most messages here are broken."""
    patient = patch("proxid.runtime.transport.throttle.BROKEN", math.inf)
    with patient, logging_restored(), overheard() as heard:
        lines = io.StringIO()
        configure_logging("fuzzed", "info", lines)
        provision(folder, people=PEOPLE)
        provision_auditor(folder, judgements_per_hour=1_000_000)
        trial = Trial(folder)
        async with AsyncExitStack() as stack:
            await trial.start(stack)
            await stack.enter_async_context(auditor_serving(folder))
            config, _ = await stack.enter_async_context(running_agent(trial, 'commands = "share"'))
            channels = dict(await _channels(stack, folder, config))
            agent = RemoteHome(channels["agent", "household"])
            house = House(trial, heard, lines, agent, channels)
            await house.begin()
            yield house


async def _channels(
    stack: AsyncExitStack, folder: Path, config: DeviceConfig
) -> list[tuple[tuple[str, str], grpc.aio.Channel]]:
    addresses = {
        "gateway": config.gateway, "auditor": str(config.auditor),
        "main-service": load(AuditorConfig, folder / "auditor/auditor.toml").main_service,
    }  # fmt: skip
    found = [
        ((server, caller), open_channel(address, _tls(folder / place), server))
        for server, address in addresses.items()
        for caller, place in CALLERS.items()
    ]
    found.append(
        (("agent", "household"), grpc.aio.insecure_channel(target(agent_socket(config.data_dir)), options=OPTIONS))
    )
    for _, channel in found:
        stack.push_async_callback(channel.close)
    return found


def _tls(folder: Path) -> TlsFiles:
    return TlsFiles(folder / "tls.key", folder / "tls.crt", folder / "ca.crt")
