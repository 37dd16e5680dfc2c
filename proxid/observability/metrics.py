"""Prometheus metrics (DESIGN 16): labels come from closed lists, so that none can carry data.

Several workers write to files in one folder (`PROMETHEUS_MULTIPROC_DIR`, set by the parent before they start), and
the parent serves their sum.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector

from proxid.errors import Code, ConfigError

FOLDER_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
OK: Final = "ok"
_CODES: Final = frozenset(code.value for code in Code) | {OK}
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

CALLS: Final = Counter("proxid_calls", "Calls served, by method and result code.", ["method", "code"])
CALL_SECONDS: Final = Histogram("proxid_call_seconds", "Duration of a call.", ["method"], buckets=_SECONDS)


def observe_call(method: str, code: str, seconds: float) -> None:
    """Count one call.

    Args:
        method: name of the servicer's method, a constant of the source. code: `ok` or a code of `proxid.errors`;
            anything else counts as `internal`.
    """
    CALLS.labels(method, code if code in _CODES else Code.INTERNAL.value).inc()
    CALL_SECONDS.labels(method).observe(seconds)


@contextmanager
def metrics_endpoint(address: str | None) -> Iterator[int | None]:
    """Serve `/metrics` at HOST:PORT while the block runs; yields the port, None without an address.

    Raises:
        ConfigError: the address cannot be bound.
    """
    if address is None:
        yield None
        return
    host, _, port = address.rpartition(":")
    try:
        server, thread = start_http_server(int(port), host.strip("[]"), _registry())
    except OSError:
        raise ConfigError("metrics_listen: the address cannot be bound") from None
    try:
        yield int(server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _registry() -> CollectorRegistry:
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder is None:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    return registry
