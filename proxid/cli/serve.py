"""`proxid serve`: runs the gateway, the main service or the auditor (DESIGN 10.5, 12, 16).

One worker runs in this process; several share a port and one store, started by this process as their parent.
"""

import asyncio
import importlib
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import structlog
import uvloop

from auditor.config import AuditorConfig
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.errors import InputError, StoreError
from proxid.runtime.config import ServiceConfig, load
from proxid.runtime.observability.endpoint import Facts, metrics_endpoint
from proxid.runtime.observability.logging import configure_logging
from proxid.runtime.observability.metrics import FOLDER_VARIABLE
from proxid.runtime.process.ended import ending_signals
from proxid.runtime.process.memory import share_heaps
from proxid.runtime.process.port import shared_port
from proxid.runtime.process.supervisor import Supervisor, stop_with_parent
from proxid.runtime.process.threads import one_blas_thread
from proxid.runtime.provision.keyfile import load_secret, load_signing_key
from proxid.runtime.store.connection import shown_url
from proxid.runtime.store.embedded import EmbeddedStore
from proxid.runtime.transport.channel import TlsFiles

SERVICES: Final[dict[str, tuple[type[ServiceConfig], str]]] = {
    "gateway": (GatewayConfig, "gateway.server"),
    "main-service": (MainServiceConfig, "main_service.server"),
}
AUDITOR: Final = AuditorConfig.role
"""Serves too: one process, without a store."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Run:
    """What one process of a service was told."""

    service: str
    path: Path
    config: Any
    as_json: bool

    def ready(self, address: str) -> None:
        """Tell who started it that it serves."""
        click.echo(json.dumps({"serving": address}) if self.as_json else f"{self.service} serves at {address}")
        sys.stdout.flush()
        _log.info("serving", address=address)


@click.command("serve", epilog="Example: proxid serve gateway --config trial/gateway/gateway.toml --workers 2")
@click.argument("service", type=click.Choice(sorted([*SERVICES, AUDITOR])))
@click.option(
    "--config", "path", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The service's TOML: gateway.toml, main-service.toml or auditor.toml.",
)  # fmt: skip
@click.option("--workers", type=click.IntRange(1, 64), help="Processes (configured: `workers`, 1).")
@click.option("--json", "as_json", is_flag=True, help="Print the address as an object.")
@click.option("--worker", type=click.IntRange(0), hidden=True)
@click.option("--store-url", hidden=True)
@click.option("--listen", hidden=True)
def command(
    service: str, path: Path, workers: int | None, as_json: bool, worker: int | None, store_url: str | None,
    listen: str | None,
) -> None:  # fmt: skip
    """Run the gateway, the main service or the auditor until SIGTERM or Ctrl-C.

    Prints the address once it serves; logs are JSON lines on stderr. Without `store_url` in its configuration it
    starts a Valkey or Redis of its own in its data folder. The auditor has no store; it audits on a schedule.
    """
    one_blas_thread()
    if service == AUDITOR:
        _audit(_Run(service, path, load(AuditorConfig, path), as_json), workers, listen)
        return
    share_heaps()
    changes = {"workers": workers, "store_url": store_url, "listen": listen}
    config = load(SERVICES[service][0], path)
    config = config.model_copy(update={key: value for key, value in changes.items() if value is not None})
    configure_logging(service, config.log_level)
    if worker is not None:  # the parent serves the metrics of all
        config = config.model_copy(update={"metrics_listen": None})
    run = _Run(service, path, config, as_json)
    _verify_files(config)
    try:
        if worker is not None:
            stop_with_parent()
            uvloop.run(_serve(run, worker))
        else:
            uvloop.run(_alone(run) if config.workers == 1 else _with_workers(run))
    except StoreError as error:
        raise error.at(_store_place(config)) from None
    _log.info("stopped")


def _store_place(config: ServiceConfig) -> str:
    """Where the store is, without user and password."""
    if config.store_url is None:
        return str(config.data_dir / "store")
    return shown_url(config.store_url)


def _audit(run: _Run, workers: int | None, listen: str | None) -> None:
    if workers not in (None, 1):
        raise InputError("--workers: the auditor is one process")
    config = run.config if listen is None else run.config.model_copy(update={"listen": listen})
    configure_logging(run.service, config.log_level)
    TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca).verify_issued()
    serve = importlib.import_module("auditor.serving.server").serve
    uvloop.run(serve(config, run.path, run.ready))
    _log.info("stopped")


def _verify_files(config: ServiceConfig) -> None:
    """That keys and certificates are usable, before anything is opened; raises KeyInvalidError, ConfigError."""
    load_signing_key(config.signing_key)
    if isinstance(config, GatewayConfig):
        load_secret(config.alias_key)
    TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca).verify_issued()


async def _serve(run: _Run, worker: int) -> None:
    serve = importlib.import_module(SERVICES[run.service][1]).serve
    await serve(run.config, ready=run.ready, worker=worker, source=run.path)


async def _alone(run: _Run) -> None:
    async with _store(run) as url:
        config = run.config.model_copy(update={"store_url": url})
        await _serve(_Run(run.service, run.path, config, run.as_json), 0)


async def _with_workers(run: _Run) -> None:
    stop = asyncio.Event()
    for number in ending_signals():
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with tempfile.TemporaryDirectory(prefix="proxid-metrics-") as folder:
        os.environ[FOLDER_VARIABLE] = folder
        async with _store(run) as url:  # a folder in use is a plainer fault than a port in use
            served = metrics_endpoint(run.config.metrics_listen, Facts.of(run.config))
            with shared_port(run.config.listen) as address, served:
                supervisor = Supervisor(
                    lambda index: _worker_command(run, index, url, address), run.config.workers, os.environ,
                    run.config.shutdown_grace + 5,
                )  # fmt: skip
                await supervisor.run(stop)


def _worker_command(run: _Run, index: int, url: str, address: str) -> list[str]:
    own = ["--worker", str(index), "--workers", str(run.config.workers), "--store-url", url, "--listen", address]
    own += ["--json"] if run.as_json else []
    # -P: a folder `gateway` where this was started must not be taken for the package.
    return [sys.executable, "-P", "-m", "proxid.cli.main", "serve", run.service, "--config", str(run.path), *own]


@asynccontextmanager
async def _store(run: _Run) -> AsyncIterator[str]:
    """The configured store's URL, or that of an embedded one that lives as long as the block."""
    config = run.config
    if config.store_url is not None:
        yield config.store_url
        return
    store = EmbeddedStore(config.data_dir / "store", config.appendfsync, config.store_max_memory)
    async with store.running():
        yield store.url
