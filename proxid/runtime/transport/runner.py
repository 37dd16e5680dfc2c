"""Runs a gRPC server until it is told to stop: health checking, reflection, graceful shutdown (DESIGN 12, 16)."""

import asyncio
import gc
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import grpc
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from proxid.errors import ProxidError
from proxid.runtime.observability.endpoint import Facts, metrics_endpoint
from proxid.runtime.observability.logging import described
from proxid.runtime.observability.metrics import set_ready
from proxid.runtime.process.ended import ending_signals
from proxid.runtime.transport.health import Health, Reflection
from proxid.runtime.transport.peers import PeerRegistry

_log = structlog.get_logger(__name__)
_CANCEL_SECONDS: Final = 0.5
_HEALTH_SECONDS: Final = 1.0
_SWITCH_SECONDS: Final = 0.0005
_YOUNG: Final = 100_000
"""New objects after which circles are looked for: a batch of evidence has half as many, and leaves none behind."""


def prepare_interpreter() -> None:
    """Once all is loaded: what answers people is kept waiting neither by the cyclic collector nor by other threads.

    What was loaded at the start lives until the end: with models and tables in memory a full collection takes tens of
    milliseconds. A thread that classifies, or writes the evidence, must not keep the interpreter for the usual 5 ms
    whenever somebody is to be answered.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 20, 50)
    sys.setswitchinterval(_SWITCH_SECONDS)


def _stop_on_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in ending_signals():
        loop.add_signal_handler(number, stop.set)


def _guard(task: asyncio.Task[None], stop: asyncio.Event, failed: list[ProxidError]) -> None:
    """A background task that ends by itself has failed: stop, so that whoever supervises starts anew."""

    def ended(done: asyncio.Task[None]) -> None:
        if not done.cancelled():
            error = done.exception()
            _log.error("background task ended", **described(error))
            failed.append(error if isinstance(error, ProxidError) else ProxidError("a background task has failed"))
            stop.set()

    task.add_done_callback(ended)


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel tasks until each has ended: a client library may turn one cancellation into an error that is retried."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=_CANCEL_SECONDS)


async def _say(health: Health, services: Sequence[str], fit: bool) -> None:
    status = health_pb2.HealthCheckResponse.SERVING if fit else health_pb2.HealthCheckResponse.NOT_SERVING
    for name in (*services, ""):
        await health.set(name, status)
    set_ready(fit)


async def _keep_saying(health: Health, services: Sequence[str], fit: Callable[[], bool]) -> None:
    said = None
    while True:
        found = fit()
        if found != said:
            await _say(health, services, found)
            said = found
        await asyncio.sleep(_HEALTH_SECONDS)


async def run(
    server: grpc.aio.Server, services: Sequence[str], address: str, background: Sequence[Coroutine[Any, Any, None]],
    ready: Callable[[str], None] | None, grace: float, peers: PeerRegistry, metrics: str | None, facts: Facts,
    fit: Callable[[], bool] = lambda: True,
) -> None:  # fmt: skip
    """Serve until SIGTERM or SIGINT; running calls get `grace` seconds to finish.

    Args:
        services: full names, for health and reflection. address: where it serves, told to `ready` once it does.
        background: what runs beside the server and is cancelled with it.
        metrics: HOST:PORT of the metrics, bound once everything else is there: a port is the least telling fault.
        facts: what they say of the party besides.
        fit: whether it can serve, asked each second; health says so.
        peers: who may ask for health; closed when it begins to stop, for calls that would not end by themselves.

    Raises:
        ConfigError: `metrics` cannot be bound. ProxidError: a background task failed; the server has been stopped.
    """
    try:
        with metrics_endpoint(metrics, facts):
            await _run(server, services, address, background, ready, grace, peers, fit)
    finally:
        for job in background:
            job.close()  # nothing happens to those that ran


async def _run(
    server: grpc.aio.Server, services: Sequence[str], address: str, background: Sequence[Coroutine[Any, Any, None]],
    ready: Callable[[str], None] | None, grace: float, peers: PeerRegistry, fit: Callable[[], bool],
) -> None:  # fmt: skip
    health = Health(peers)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    reflected = Reflection(peers, (*services, reflection.SERVICE_NAME))
    reflection_pb2_grpc.add_ServerReflectionServicer_to_server(reflected, server)  # type: ignore[no-untyped-call]
    stop = asyncio.Event()
    _stop_on_signals(stop)
    prepare_interpreter()
    await server.start()
    await _say(health, services, fit())
    tasks = [asyncio.create_task(job) for job in (*background, _keep_saying(health, services, fit))]
    failed: list[ProxidError] = []
    for task in tasks:
        _guard(task, stop, failed)
    if ready is not None:
        ready(address)
    try:
        await stop.wait()
    finally:
        set_ready(False)
        await health.enter_graceful_shutdown()
        # Stopped before idle callers are sent away: none of them comes back to this process.
        stopped = asyncio.create_task(server.stop(grace))
        await asyncio.sleep(0)
        peers.close()
        await stopped
        await _end(tasks)
    if failed:
        raise failed[0]
