"""`proxid bench load -o part=idle`: what third parties cost that wait for what is not there.

Five third parties keep `streams` (500) feeds open at a gateway, and nobody asks anything:

    idle_ratio                  processor time of the gateway and its store in `seconds` (20), over that with none open
    idle_ms_per_stream_minute   what is more, a stream and minute
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from bench import Figure
from bench.load.house import processes
from bench.load.remains import open_store
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.clients.subscriber.config import PartyConfig
from proxid.runtime.config import load
from proxid.runtime.transport.channel import TlsFiles, open_channel
from proxid.wire.v1.gateway_pb2 import SubscribeRequest
from proxid.wire.v1.gateway_pb2_grpc import FeedStub

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_SETTLE: Final = 5.0


class _WideTrial(DemoTrial):
    """With more parties: each may have 128 streams."""

    parties = ("acme", "globex", "initech", "hooli", "umbrella")


def idle(seconds: int, streams: int) -> dict[str, Figure]:
    """Measure."""
    import uvloop

    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        trial = _WideTrial(Path(folder), DemoOptions(people=10, k=3, form="pairs"))
        trial.provision()
        try:
            trial.start_services()
            none, some = uvloop.run(_measured(trial, seconds, streams))
        finally:
            trial.stop()
    more = max(0.0, some - none) / streams * 60 / seconds
    return {
        "idle_ratio": {"value": round(some / none, 3), "unit": "ratio", "baseline": f"{none / seconds:.2%} of a core"},
        "idle_ms_per_stream_minute": {"value": round(1e3 * more, 3), "unit": "ms", "baseline": f"{streams} streams"},
    }


async def _measured(trial: DemoTrial, seconds: int, streams: int) -> tuple[float, float]:
    store = open_store(trial)
    server = int((await store.info("server"))["process_id"])
    await store.aclose()
    pids = [*processes(trial.children["gateway"].pid), server]
    none = await _spent(pids, seconds)
    async with _streams(trial, streams):
        some = await _spent(pids, seconds)
    return none, some


@asynccontextmanager
async def _streams(trial: DemoTrial, number: int) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        calls: list[Any] = []
        for at, party in enumerate(trial.parties):
            config = load(PartyConfig, trial.party_path(party))
            tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
            channel = await stack.enter_async_context(open_channel(config.gateway, tls, config.gateway_name))
            own = range(at, number, len(trial.parties))
            calls += [FeedStub(channel).Subscribe(SubscribeRequest(follow=True)) for _ in own]
        for call in calls:
            await call.wait_for_connection()
        yield
        assert not any(call.done() for call in calls), "a stream ended"
        for call in calls:
            call.cancel()


async def _spent(pids: list[int], seconds: int) -> float:
    """Processor seconds that processes take in so many seconds, once they have settled."""
    await asyncio.sleep(_SETTLE)
    before = sum(map(_processor, pids))
    await asyncio.sleep(seconds)
    return sum(map(_processor, pids)) - before


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
