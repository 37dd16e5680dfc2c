"""A port that several processes serve together (SO_REUSEPORT)."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from proxid.runtime.addresses import split, unusable


@contextmanager
def shared_port(address: str) -> Iterator[str]:
    """HOST:PORT with a port that stays reserved for this user's processes; port 0 becomes a free one.

    Raises:
        ConfigError: the address cannot be bound, or others serve it.
    """
    family, where = split(address)
    _verify_free(address)
    with socket.socket(family, socket.SOCK_STREAM) as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            # Bound and not listening: no connection ever ends up here.
            reserved.bind(where)
        except OSError as error:
            raise unusable("listen", address, error) from None
        yield f"{address.rpartition(':')[0]}:{reserved.getsockname()[1]}"


def _verify_free(address: str) -> None:
    """Another service that shares its port with its own workers would take half of the calls."""
    family, where = split(address)
    with socket.socket(family, socket.SOCK_STREAM) as alone:
        alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            alone.bind(where)
        except OSError as error:
            raise unusable("listen", address, error) from None
