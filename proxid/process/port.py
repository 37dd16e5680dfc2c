"""A port that several processes serve together (SO_REUSEPORT)."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from proxid.errors import ConfigError


@contextmanager
def shared_port(address: str) -> Iterator[str]:
    """HOST:PORT with a port that stays reserved for this user's processes; port 0 becomes a free one.

    Raises:
        ConfigError: the address cannot be bound, or others serve it.
    """
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    _verify_free(family, (host.strip("[]"), int(port)))
    with socket.socket(family, socket.SOCK_STREAM) as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            # Bound and not listening: no connection ever ends up here.
            reserved.bind((host.strip("[]"), int(port)))
        except OSError:
            raise ConfigError("listen: the address cannot be bound") from None
        yield f"{host}:{reserved.getsockname()[1]}"


def _verify_free(family: socket.AddressFamily, address: tuple[str, int]) -> None:
    """Another service that shares its port with its own workers would take half of the calls."""
    with socket.socket(family, socket.SOCK_STREAM) as alone:
        alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            alone.bind(address)
        except OSError:
            raise ConfigError("listen: the address cannot be bound") from None
