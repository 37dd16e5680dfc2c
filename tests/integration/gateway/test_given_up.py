"""Callers that go away in the middle, and callers that ask for what there is not: nothing stays open or is lost."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from gateway.config import GatewayConfig
from gateway.upstream import MainServiceClient
from proxid.clients.household.config import DeviceConfig
from proxid.errors import Code
from proxid.protocol import request
from proxid.protocol.request import Utterance
from proxid.runtime.config import load
from proxid.runtime.store import connect
from proxid.runtime.transport.channel import TlsFiles, open_channel
from proxid.runtime.transport.convert import to_wire
from proxid.runtime.transport.status import code_of
from proxid.wire.v1 import gateway_pb2, main_service_pb2
from proxid.wire.v1.gateway_pb2_grpc import GatewayStub
from proxid.wire.v1.main_service_pb2_grpc import MainServiceStub
from tests.support.trial import PEOPLE, Trial, running

TIMEOUT = 20


@asynccontextmanager
async def devices(trial: Trial) -> AsyncIterator[Any]:
    """The gateway, as the household's device calls it."""
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
    async with open_channel(config.gateway, tls, config.gateway_name) as channel:
        yield GatewayStub(channel)


async def ask_request(trial: Trial) -> gateway_pb2.AskRequest:
    session, now = await trial.device.session(PEOPLE[0]), int(time.time() * 1000)
    user = session.user.user_id
    signed = request.make(Utterance.new("node1 hello", now), user, session.key, session.route, now)
    return gateway_pb2.AskRequest(message=to_wire(signed))


@pytest.mark.parametrize("stream", [False, True])
async def test_a_device_that_hangs_up_leaves_no_session_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    forwarded = asyncio.Event()

    async def never(*_: Any, **__: Any) -> Any:
        forwarded.set()
        await asyncio.Event().wait()

    async with running(tmp_path) as trial, asyncio.timeout(120):
        await trial.ask("node1 hello", PEOPLE[:1])
        with monkeypatch.context() as patch:
            patch.setattr(MainServiceClient, "ask", never)
            async with devices(trial) as stub:
                call: Any
                if stream:
                    call = stub.Converse()
                    await call.write(await ask_request(trial))
                else:
                    call = stub.Ask(await ask_request(trial))
                await forwarded.wait()
                call.cancel()
                store = connect(trial.url("gateway"))
                while await store.zcard("{gw}:open"):  # noqa: ASYNC110 - another process's store
                    await asyncio.sleep(0.05)
                await store.aclose()
        await trial.ask("node1 again", PEOPLE[:1])
        report = await trial.audit()
        assert report.violations == [] and report.counts["requests"] == 3


@pytest.mark.parametrize("prox_id", ["", "p", "px1", "px1" + "a" * 31, "px1" + "A" * 32, "*"])
async def test_what_is_no_prox_id_erases_nothing(tmp_path: Path, prox_id: str) -> None:
    async with running(tmp_path) as trial, asyncio.timeout(120):
        await trial.ask("node1 hello", PEOPLE[:1])
        config = load(GatewayConfig, trial.folder / "gateway/gateway.toml")
        tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
        async with open_channel(config.main_service, tls, config.main_service_name) as channel:
            stub: Any = MainServiceStub(channel)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stub.Erase(main_service_pb2.EraseRequest(prox_id=prox_id), timeout=TIMEOUT)
        assert code_of(caught.value) is Code.LIMIT_EXCEEDED
        await trial.ask("node1 again", PEOPLE[:1])
        assert (await trial.audit()).violations == []
