"""Why an address cannot be served, in words: a port in use is mended otherwise than a name that nobody knows."""

import errno
import socket

from proxid.errors import ConfigError

_WORDS = {
    errno.EADDRINUSE: "is in use by another process",
    errno.EADDRNOTAVAIL: "is not an address of this machine",
    errno.EACCES: "may not be served by this user",
}


def split(address: str) -> tuple[socket.AddressFamily, tuple[str, int]]:
    """Family, host and port of HOST:PORT or [HOST]:PORT."""
    host, _, port = address.rpartition(":")
    return socket.AF_INET6 if host.startswith("[") else socket.AF_INET, (host.strip("[]"), int(port))


def unusable(key: str, address: str, error: OSError) -> ConfigError:
    """The error of a configuration's key whose address could not be bound."""
    if isinstance(error, socket.gaierror):
        return ConfigError(f"{key}: {address} names no known host")
    return ConfigError(f"{key}: {address} {_WORDS.get(error.errno or 0, 'cannot be bound')}")


def bind_error(address: str) -> OSError:
    """What the kernel says to binding an address, for libraries that do not pass it on."""
    family, where = split(address)
    with socket.socket(family, socket.SOCK_STREAM) as alone:
        alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            alone.bind(where)
            alone.listen()
        except OSError as error:
            return error
    return OSError("it can be bound now")
