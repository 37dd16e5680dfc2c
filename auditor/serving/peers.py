"""Another auditor as this one, or a witness, calls it: heads are exchanged (DESIGN 10.5)."""

from collections.abc import Sequence
from typing import Final

import grpc

from proxid.errors import UpstreamError
from proxid.runtime.transport.channel import TlsFiles
from proxid.wire.v1.auditor_pb2_grpc import AuditorStub
from proxid.wire.v1.common_pb2 import HeadsRequest

_SECONDS: Final = 10.0


def exchange_heads(address: str, tls: TlsFiles, accepted: bytes, heads: Sequence[bytes]) -> list[bytes]:
    """Show heads to another auditor; those that it shows. Blocks for 10 s at most.

    Args:
        accepted: certificates in PEM of which it must show one.

    Raises:
        UpstreamError: it is away, or refuses. ConfigError: a file is unusable.
    """
    key, certificate, _ = tls.read()
    credentials = grpc.ssl_channel_credentials(accepted, key, certificate)
    with grpc.secure_channel(address, credentials, options=[("grpc.ssl_target_name_override", "auditor")]) as channel:
        try:
            reply = AuditorStub(channel).Heads(HeadsRequest(heads=heads), timeout=_SECONDS, wait_for_ready=True)
        except grpc.RpcError:
            raise UpstreamError(f"the auditor at {address} cannot be asked for heads") from None
    return list(reply.heads)
