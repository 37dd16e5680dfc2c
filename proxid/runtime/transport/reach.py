"""How far a call to a peer came, and what to try: each fault of the way there is mended otherwise."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from proxid.errors import Code
from proxid.runtime.transport.channel import TlsFiles, open_channel
from proxid.runtime.transport.status import code_of


class Reach(StrEnum):
    """What became of a call."""

    SERVING = "serving"
    NOT_READY = "not_ready"
    REFUSED = "certificate_refused"
    """The peer does not take this side's certificate."""
    FOREIGN = "server_not_accepted"
    """This side does not take the peer's."""
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Reached:
    """The outcome, in words, and the next step; both are of closed lists and hold nothing of anybody's."""

    outcome: Reach
    text: str
    next: str = ""


_STARTED: Final = "see that it is started, and at this address"
_OTHER: Final = Reached(Reach.UNREACHABLE, "cannot be reached", _STARTED)

_WAY: Final[tuple[tuple[str, Reached], ...]] = (
    ("Connection refused", Reached(Reach.UNREACHABLE, "nobody listens there", _STARTED)),
    ("Domain name not found", Reached(Reach.UNREACHABLE, "no known host", "correct the address")),
    ("errors resolving", Reached(Reach.UNREACHABLE, "no known host", "correct the address")),
    ("DNS resolution failed", Reached(Reach.UNREACHABLE, "no known host", "correct the address")),
    ("unreachable", Reached(Reach.UNREACHABLE, "no way leads there", "see to the network")),
    ("WRONG_VERSION_NUMBER", Reached(Reach.UNREACHABLE, "what answers there speaks no TLS", "correct the address")),
    ("Hostname Verification", Reached(Reach.FOREIGN, "is somebody else's, by its certificate", "correct the address")),
    ("CERTIFICATE_VERIFY_FAILED", Reached(
        Reach.FOREIGN, "shows a certificate that is not accepted here",
        "if it has a new one, import its public.toml: proxid init --into FOLDER --import FILE",
    )),
    ("Socket closed", Reached(
        Reach.REFUSED, "ends the connection when it sees this certificate",
        "see whether it has ended, or is of another CA: proxid doctor",
    )),
)  # fmt: skip
"""What gRPC says of a line that did not come about: there is no code for it."""

_LIST: Final = "have its operator import this public.toml: proxid init --into FOLDER --import FILE"
_ENDED: Final = Reached(Reach.REFUSED, "refuses this certificate, which has ended", "have a new one signed")
_UNLISTED: Final = Reached(Reach.REFUSED, "refuses this certificate, which is not on its list", _LIST)


def reached(error: Any) -> Reached:
    """What kept a failed call, a `grpc.RpcError` of either interface, from its peer."""
    details = error.details() or ""
    if code_of(error) is Code.PEER_REFUSED:
        return _ENDED if "has ended" in details else _UNLISTED
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return Reached(Reach.UNREACHABLE, "gives no answer in time", "see to the network, and whether it is overloaded")
    return next((found for words, found in _WAY if words in details), _OTHER)


async def probe(address: str, tls: TlsFiles, role: str, accepted: bytes, seconds: float) -> Reached:
    """Ask a service for its health, with this side's certificate.

    Args:
        address: HOST:PORT. role, accepted: as `open_channel` takes them. seconds: that it may take.

    Raises:
        ConfigError: a file of `tls` is unusable.
    """
    async with open_channel(address, tls, role, accepted) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            reply = await stub.Check(health_pb2.HealthCheckRequest(), timeout=seconds)
        except grpc.aio.AioRpcError as error:
            return reached(error)
    if reply.status == health_pb2.HealthCheckResponse.SERVING:
        return Reached(Reach.SERVING, "serves")
    return Reached(Reach.NOT_READY, "is not ready", "read its log: a clock that is doubted, or a store that is away")
