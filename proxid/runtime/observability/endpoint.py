"""What a process serves on `metrics_listen` (DESIGN 16): `/metrics`, `/healthz`, `/readyz`, and nothing else.

`/healthz` says that the process lives, `/readyz` whether it takes requests, 503 with a word for what is missing. Both
go by figures that are there anyway and touch neither store nor disk: a probe a second costs nothing.
"""

import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from platform import python_version
from socketserver import TCPServer
from threading import Lock, Thread
from typing import Any, Final, Self

from cryptography import x509
from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from proxid import __version__
from proxid.regular import regular_bytes
from proxid.runtime.addresses import split, unusable
from proxid.runtime.config.base import PartyBase
from proxid.runtime.observability.metrics import FOLDER_VARIABLE

_MISSING: Final = {"proxid_store_away": "store", "proxid_log_blocked": "log", "proxid_clock_doubted": "clock"}
"""Metric that is not 0 → the word for what serving needs and is not there."""
SECONDS: Final = 10.0
"""For which a connection may last: a request and its answer."""
CALLERS: Final = 32
"""Connections at once: each has a thread, and a descriptor that whoever asks the service itself would lack."""


@dataclass(frozen=True, eq=False)
class Facts(Collector):
    """What is looked up when somebody reads the metrics.

    Attributes:
        certificates: word for each PEM file with a certificate, and where it is. folder: where the party's state lies.
        role: of the party.
    """

    certificates: Mapping[str, Path] = field(default_factory=dict)
    folder: Path | None = None
    role: str = ""

    @classmethod
    def of(cls, config: PartyBase) -> Self:
        """Of a party."""
        return cls({"certificate": config.tls.certificate, "ca": config.tls.ca}, config.data_dir, config.role)

    def collect(self) -> Iterable[Metric]:
        """Build, ends of certificates, room on the disk; what cannot be read is left out."""
        build = GaugeMetricFamily("proxid_build_info", "1; what runs.", labels=["role", "version", "python"])
        build.add_metric([self.role, __version__, python_version()], 1)
        yield build
        ends = GaugeMetricFamily(
            "proxid_certificate_expiry_timestamp_seconds", "Until when a certificate holds.", labels=["file"]
        )
        for name, path in self.certificates.items():
            try:
                last = x509.load_pem_x509_certificate(regular_bytes(path)).not_valid_after_utc
            except (OSError, ValueError):
                continue
            ends.add_metric([name], last.timestamp())
        yield ends
        yield from self._room()

    def _room(self) -> Iterable[Metric]:
        try:
            found = None if self.folder is None else os.statvfs(self.folder)
        except OSError:
            found = None
        if found is not None:
            yield GaugeMetricFamily(
                "proxid_disk_free_bytes", "Room where the state lies.", found.f_bavail * found.f_frsize
            )
            yield GaugeMetricFamily("proxid_disk_size_bytes", "Size of that disk.", found.f_blocks * found.f_frsize)


_LOOK_SECONDS: Final = 0.05
"""After which the server sees that it is to end: a service that stops waits for that."""


@contextmanager
def metrics_endpoint(address: str | None, facts: Facts) -> Iterator[int | None]:
    """Serve at HOST:PORT while the block runs; yields the port, None without an address.

    Raises:
        ConfigError: the address cannot be bound.
    """
    if address is None:
        yield None
        return
    try:
        server = _Server(address, _registry(), facts)
    except OSError as error:
        raise unusable("metrics_listen", address, error) from None
    thread = Thread(target=server.serve_forever, args=(_LOOK_SECONDS,), daemon=True, name="metrics")
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def missing(registry: CollectorRegistry) -> list[str]:
    """Words for what serving needs and is not there; empty if requests are taken."""
    found = [word for name, word in _MISSING.items() if registry.get_sample_value(name)]
    return found if registry.get_sample_value("proxid_ready") else found or ["start"]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = CALLERS

    def __init__(self, address: str, registry: CollectorRegistry, facts: Facts) -> None:
        self.registry = registry
        self.facts = CollectorRegistry()
        self.facts.register(facts)
        self._since: dict[socket.socket, float] = {}
        self._lock = Lock()
        self.address_family, where = split(address)
        super().__init__(where, _Handler)

    def server_bind(self) -> None:
        """As the parent's, without asking a name server for the host's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own; if there are too many, the oldest makes room."""
        with self._lock:
            if len(self._since) >= CALLERS:
                self._send_away(next(iter(self._since)))
            self._since[request] = time.monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._lock:
            self._since.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Called now and then: who says a request slowly, or reads the answer so, is not waited for."""
        with self._lock:
            oldest = time.monotonic() - SECONDS
            for request in [request for request, since in self._since.items() if since < oldest]:
                self._send_away(request)

    def _send_away(self, request: socket.socket) -> None:
        """Whatever its thread waits for fails."""
        del self._since[request]
        with suppress(OSError):  # the caller was quicker
            request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that goes away is nobody's concern, and its address no log line."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "proxid"
    sys_version = ""

    def do_GET(self) -> None:
        """One of the three paths, or 404."""
        path = self.path.partition("?")[0]
        if path == "/metrics":
            self._metrics()
        elif path == "/healthz":
            self._say(200, "ok")
        elif path == "/readyz":
            lacks = missing(self.server.registry)
            self._say(503 if lacks else 200, f"not ready: {', '.join(lacks)}" if lacks else "ready")
        else:
            self._say(404, "not found")

    do_HEAD = do_GET

    def _metrics(self) -> None:
        try:
            encoder, kind = choose_encoder(self.headers.get("Accept", ""))
        except (TypeError, ValueError):  # the library compares a version that is no number with one that is
            encoder, kind = choose_encoder("")
        self._send(200, encoder(_Both(self.server.facts, self.server.registry)), kind)

    def _say(self, status: int, text: str) -> None:
        self._send(status, f"{text}\n".encode(), "text/plain; charset=utf-8")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """No access log."""


class _Both(CollectorRegistry):
    """The facts of this process and the figures of all workers, as one."""

    def __init__(self, *parts: CollectorRegistry) -> None:
        super().__init__()
        self._parts = parts

    def collect(self) -> Iterable[Metric]:
        for part in self._parts:
            yield from part.collect()


def _registry() -> CollectorRegistry:
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder is None:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    return registry
