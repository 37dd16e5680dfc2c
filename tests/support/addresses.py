"""Ports for services that a test stops and starts again."""

import os
import random
import socket
from pathlib import Path

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """A port below those that the system gives to connections: while its service is down nobody else is given it.

    Tests that run side by side draw from numbers of their own: between a draw and the service's start lies a second,
    in which a number that is free may be drawn once more.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    own = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = int(_RANGE.read_text().split()[0]) if _RANGE.exists() else 32768
    while True:
        port = random.SystemRandom().randrange(10_000 + own, first, workers)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def free_address() -> str:
    """Such a port, as services are told it."""
    return f"127.0.0.1:{free_port()}"
