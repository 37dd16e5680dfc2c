"""A device far away connects: one attempt may take as long as a few round trips of the slowest line."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from bench.rights.slow_line import SlowLine
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.household import Household
from proxid.runtime.config import load
from proxid.runtime.transport.methods import unary
from proxid.wire.v1 import gateway_pb2
from proxid.wire.v1.gateway_pb2_grpc import GatewayServicer, GatewayStub
from tests.support.rpc_trial import channel, make_trial, peers, serving
from tests.support.trial import PEOPLE, running

DEVICES = 50


class Gateway(GatewayServicer):
    def __init__(self, folder: Path) -> None:
        self.peers = peers(folder)

    @unary("device")
    async def GetParameters(self, request: Any, peer: Any) -> gateway_pb2.Parameters:
        return gateway_pb2.Parameters(epoch=7)


@pytest.mark.parametrize("round_trip", [0.5, 1.2])
async def test_every_device_on_a_slow_line_connects_at_its_first_attempt(tmp_path: Path, round_trip: float) -> None:
    folder = make_trial(tmp_path)

    async def first_answer(address: str) -> int:
        async with channel(folder, address, "devices/home") as found:
            reply = await GatewayStub(found).GetParameters(gateway_pb2.ParametersRequest(), timeout=20)
            return int(reply.epoch)

    async with serving(folder, Gateway(folder)) as (_, address), AsyncExitStack() as stack:
        # A line for each: channels of one process to one address would share their connection.
        made = [SlowLine(address, round_trip / 2) for _ in range(DEVICES)]
        lines = [await stack.enter_async_context(line.running()) for line in made]
        found = await asyncio.gather(*(first_answer(line.address) for line in lines), return_exceptions=True)
        assert found == [7] * DEVICES
        assert [line.opened for line in lines] == [1] * DEVICES


async def test_a_household_is_answered_over_a_slow_line(tmp_path: Path) -> None:
    async with running(tmp_path) as trial, SlowLine(trial.config("gateway").listen, 0.6).running() as line:
        config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
        device = Household.open(config.model_copy(update={"gateway": line.address}))
        try:
            assert (await device.ask(PEOPLE[0], "what is two times two")).text == "It is 4."
        finally:
            await device.close()
        assert line.opened == 1
