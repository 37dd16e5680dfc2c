"""Channels and ports with mutual TLS: both sides show a certificate of the same CA."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import grpc
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from proxid.errors import ConfigError
from proxid.regular import regular_bytes
from proxid.runtime.addresses import bind_error, unusable
from proxid.runtime.pem import malformed_as
from proxid.runtime.transport.parsing import Unparsed

MAX_MESSAGE: Final = 4 * 1024 * 1024
"""Bytes of the largest message that a peer accepts."""

KEEPALIVE: Final = 30_000
"""Milliseconds between the pings of either side, for as long as a call is open: feeds idle for hours."""

T = TypeVar("T")

HANDSHAKE: Final = 10_000
"""Milliseconds in which a caller has to come through TLS and HTTP/2's greeting; slow lines need five seconds."""
IDLE: Final = 900_000
"""Milliseconds for which a connection without calls is kept."""
AGE: Final = 6 * 3_600_000
"""Milliseconds after which a caller has to connect anew, so that no certificate is believed for much longer."""
AGE_GRACE: Final = 600_000
"""Milliseconds in which its calls may end by themselves then."""

CONNECT: Final = 20_000
"""Milliseconds that one attempt to connect may take: TCP, TLS and HTTP/2 need four round trips one after another."""

_OPTIONS: Final = [("grpc.max_send_message_length", MAX_MESSAGE)]

_CALLING: Final = [
    ("grpc.enable_retries", 0),
    # A restarted peer is found again within a second. The least delay between attempts is also how long gRPC lets one
    # attempt take: it does not wait for it after one that was refused.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", CONNECT),
    ("grpc.max_reconnect_backoff_ms", 1_000),
]


def _keepalive() -> list[tuple[str, int]]:
    """Both sides ping an idle call, and a server bears the pings that our clients send (its own rule is 5 minutes)."""
    return [
        ("grpc.keepalive_time_ms", KEEPALIVE),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", KEEPALIVE // 3),
    ]


def _limits(outside: bool) -> list[tuple[str, int]]:
    """How long a connection may take to come about, stand idle and live; the other service's lives on."""
    limits = [("grpc.server_handshake_timeout_ms", HANDSHAKE)]
    if outside:
        limits += [
            ("grpc.max_connection_idle_ms", IDLE),
            ("grpc.max_connection_age_ms", AGE),
            ("grpc.max_connection_age_grace_ms", AGE_GRACE),
        ]
    return limits


def _accepting(size: int) -> tuple[str, int]:
    return "grpc.max_receive_message_length", size


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files of one party: its key, its certificate, and the CA that it trusts."""

    key: Path
    certificate: Path
    authority: Path

    def read(self) -> tuple[bytes, bytes, bytes]:
        """Contents: key, certificate, authority; raises ConfigError naming the file that is unusable, and why."""
        contents = (
            _read("tls.key", self.key),
            _read("tls.certificate", self.certificate),
            _read("tls.ca", self.authority),
        )
        # gRPC would take a wrong one, and fail to bind or to connect for a reason that it keeps to itself.
        own = _parsed("tls.certificate", self.certificate, contents[1], _public_key)
        _parsed("tls.ca", self.authority, contents[2], _public_key)
        secret = _parsed("tls.key", self.key, contents[0], lambda data: load_pem_private_key(data, None).public_key())
        if secret != own:
            raise ConfigError(f"tls.key: {self.key.name} is not the key of {self.certificate.name}")
        return contents

    def verify_issued(self) -> None:
        """That the certificate is of the CA, or else no peer of that CA accepts it; raises ConfigError."""
        _, certificate, authority = self.read()
        rule = f"tls.certificate: {self.certificate.name} is not of the CA of {self.authority.name}"
        with malformed_as(ConfigError(rule)):
            x509.load_pem_x509_certificate(certificate).verify_directly_issued_by(
                x509.load_pem_x509_certificate(authority)
            )


def _public_key(certificate: bytes) -> object:
    found = x509.load_pem_x509_certificate(certificate)
    assert found.not_valid_after_utc  # read late, as the key is
    return found.public_key()


def _parsed(key: str, path: Path, data: bytes, parse: Callable[[bytes], T]) -> T:
    kind = "private key" if key == "tls.key" else "certificate"
    with malformed_as(ConfigError(f"{key}: {path.name} holds no {kind} in PEM").at(str(path))):
        return parse(data)


def _read(key: str, path: Path) -> bytes:
    try:
        return regular_bytes(path)
    except OSError:
        raise ConfigError(f"{key}: {path.name} cannot be read") from None


def open_channel(address: str, tls: TlsFiles, role: str, accepted: bytes = b"") -> grpc.aio.Channel:
    """A channel to a peer whose certificate must name `role` as a DNS name, wherever it listens.

    Args:
        accepted: certificates in PEM of which the peer must show one, whatever the CA signed; else any of the CA's
            will do.
    """
    key, certificate, authority = tls.read()
    # Each is a root of its own: gRPC accepts a chain that ends at any certificate that it was given.
    credentials = grpc.ssl_channel_credentials(accepted or authority, key, certificate)
    options = [*_OPTIONS, *_CALLING, *_keepalive(), _accepting(MAX_MESSAGE), ("grpc.ssl_target_name_override", role)]
    return grpc.aio.secure_channel(address, credentials, options=options)


def server_credentials(tls: TlsFiles) -> grpc.ServerCredentials:
    """Credentials of a server that requires a client certificate."""
    key, certificate, authority = tls.read()
    return grpc.ssl_server_credentials([(key, certificate)], authority, require_client_auth=True)


def _nothing(_service: str, _handlers: object) -> None:
    """See `new_server`."""


def new_server(
    tls: TlsFiles, address: str, shared: bool = False, max_message: int = MAX_MESSAGE, max_streams: int | None = None
) -> tuple[grpc.aio.Server, int]:
    """A server with a bound port (0 in the address picks a free one), not started.

    Args:
        shared: the port is shared (SO_REUSEPORT), so that worker processes can serve it together.
        max_message: bytes of the largest message that a caller may send. max_streams: calls of one connection at once,
            of a service that outsiders call: its connections end when they are old, or idle.

    Raises:
        ConfigError: the address cannot be bound.
    """
    options = [*_OPTIONS, *_keepalive(), _accepting(max_message), ("grpc.so_reuseport", int(shared))]
    options += _limits(max_streams is not None)
    if max_streams is not None:
        options.append(("grpc.max_concurrent_streams", max_streams))
    server = grpc.aio.server(options=options, interceptors=[Unparsed()])
    # Generated code registers each method twice. A registered method is awaited by itself, and after every call gRPC
    # waits for all of them anew; generic handlers, which find a method by its name, are awaited once for the server.
    setattr(server, "add_registered_method_handlers", _nothing)  # noqa: B010
    try:
        port = server.add_secure_port(address, server_credentials(tls))
    except RuntimeError:
        raise unusable("listen", address, bind_error(address)) from None
    return server, port
