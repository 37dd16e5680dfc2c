"""Real services and too much: `overloaded` with the time to come back, and answers as soon as there is room again."""

import asyncio
import time
from pathlib import Path
from typing import Any

import grpc

from auditor.findings import Verdict
from proxid.errors import Code
from proxid.runtime.transport.budget import OUTSIDERS
from proxid.runtime.transport.status import PUSHBACK_KEY, code_of, pushback_of
from tests.integration.gateway.test_given_up import ask_request, devices
from tests.support.trial import PEOPLE, running


async def test_a_household_over_its_budget_is_told_so_and_answered_when_it_is_under_it(tmp_path: Path) -> None:
    async with running(tmp_path) as trial, asyncio.timeout(120), devices(trial) as stub:
        asked = await ask_request(trial)
        streams: list[Any] = []
        for _ in range(OUTSIDERS.streams):
            streams.append(stub.Converse())
            if len(streams) % 64 == 0:
                await asyncio.gather(*(stream.wait_for_connection() for stream in streams[-64:]))
        await streams[0].write(asked)
        assert (await streams[0].read()).HasField("message")
        async with devices(trial) as more:
            over: Any = more.Converse()
            begun = time.monotonic()
            try:
                await over.read()
                error = None
            except grpc.aio.AioRpcError as found:
                error = found
            assert error is not None and error.code() is grpc.StatusCode.UNAVAILABLE
            assert code_of(error) is Code.OVERLOADED and pushback_of(error) > 0
            assert PUSHBACK_KEY in dict(error.trailing_metadata() or ()) and time.monotonic() - begun < 10
            for stream in streams:
                stream.cancel()
            await trial.ask("node1 again", PEOPLE[:1])
            late = await ask_request(trial)
            late.left_ms = 20_000
            assert (await more.Ask(late)).HasField("message")
        report = await trial.audit()
    assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)
