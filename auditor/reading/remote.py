"""Reads a service's evidence over gRPC, with the auditor's certificate."""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import grpc

from auditor.reading.source import Heads
from proxid.errors import Code, EvidenceLostError, EvidenceUnreadableError
from proxid.evidence.leaf import Leaf
from proxid.runtime.transport.channel import MAX_MESSAGE, TlsFiles
from proxid.runtime.transport.reach import reached
from proxid.runtime.transport.status import CODE_KEY
from proxid.wire.v1 import common_pb2 as wire
from proxid.wire.v1.common_pb2_grpc import EvidenceStub

_CONNECT_SECONDS: Final = 10.0
_CALL_SECONDS: Final = 60.0
_LOST: Final = frozenset({Code.LOG_DAMAGED.value, Code.TREE_PROOF_INVALID.value})
"""What a service answers that cannot prove any more what an old log held."""


class RemoteLog:
    """One service's log behind its Evidence service.

    Args:
        address: host and port. tls: the auditor's files. role: the DNS name in the service's certificate.
        accepted: certificates in PEM of which the service must show one, whatever the CA signed.
        fresh: wait until a head covers everything recorded before it is asked for.
    """

    def __init__(self, address: str, tls: TlsFiles, role: str, accepted: bytes, fresh: bool = True) -> None:
        key, certificate, _ = tls.read()
        credentials = grpc.ssl_channel_credentials(accepted, key, certificate)
        options = [("grpc.ssl_target_name_override", role), ("grpc.max_receive_message_length", MAX_MESSAGE)]
        self._channel = grpc.secure_channel(address, credentials, options=options)
        self._stub = EvidenceStub(self._channel)
        self._fresh = fresh
        self._log = 0
        self._name = f"{role} at {address}"

    def heads(self) -> Heads:
        """The signed heads; raises EvidenceUnreadableError."""
        asked = wire.CheckpointRequest(log=self._log)
        try:
            reply = self._stub.Checkpoint(asked, timeout=_CONNECT_SECONDS, wait_for_ready=True)
        except grpc.RpcError as error:
            code = _code(error)
            how = f"shows no head ({code})" if code in set(Code) else "cannot be reached"
            raise EvidenceUnreadableError(f"the log of {self._name} {how}{self._why(error)}").at(self._name) from None
        if self._fresh:
            reply = self._call(self._stub.Checkpoint, wire.CheckpointRequest(fresh=True))
        first = Leaf(reply.first.salt, reply.first.header) if reply.HasField("first") else None
        return Heads(reply.latest, tuple(reply.cosigned), first=first)

    def _why(self, error: Any) -> str:
        """What kept a call away, and what to try; one that waited for the line knows only that it waited."""
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            try:
                self._stub.Checkpoint(wire.CheckpointRequest(log=self._log), timeout=_CONNECT_SECONDS)
            except grpc.RpcError as another:
                error = another
        if _code(error) in set(Code) - {Code.PEER_REFUSED}:
            return ""
        found = reached(error)
        return f": {found.text}; {found.next}"

    def log(self, generation: int) -> "RemoteLog":
        """An older log of the service, through the same channel."""
        found = copy.copy(self)
        found._log, found._fresh = generation, False
        return found

    def leaves(self, first: int, end: int) -> Iterator[Leaf]:
        """Leaves `first` … `end`−1; raises EvidenceUnreadableError, EvidenceLostError."""
        if first >= end:
            return
        number = first
        try:
            for batch in self._stub.Leaves(wire.LeavesRequest(first=first, limit=end - first, log=self._log)):
                for leaf in batch.leaves:
                    yield Leaf(leaf.salt, leaf.header, tuple(leaf.parts), leaf.lost, leaf.damaged)
                    number += 1
        except grpc.RpcError as error:
            code = _code(error)
            kind = EvidenceLostError if self._log and code in _LOST else EvidenceUnreadableError
            raise kind(f"the log of {self._name} cannot be read from leaf {number} on ({code})") from None

    def consistency(self, old: int, size: int) -> list[bytes]:
        """A consistency proof; raises EvidenceUnreadableError."""
        reply = self._call(self._stub.Consistency, wire.ConsistencyRequest(old=old, size=size, log=self._log))
        return list(reply.hashes)

    def inclusion(self, number: int, size: int) -> list[bytes]:
        """An inclusion proof; raises EvidenceUnreadableError."""
        request = wire.InclusionRequest(number=number, size=size, log=self._log)
        return list(self._call(self._stub.Inclusion, request).hashes)

    def keys(self, tags: Sequence[bytes]) -> list[bytes]:
        """Evidence keys, of the Identity Screener's log alone; raises EvidenceUnreadableError."""
        return list(self._call(self._stub.Keys, wire.EvidenceKeysRequest(tags=tags)).seeds)

    def show(self, heads: Sequence[bytes]) -> None:
        """Show signed heads, as a witness; raises EvidenceUnreadableError."""
        self._call(self._stub.ShowHeads, wire.HeadsRequest(heads=heads))

    def cosign(self, note: bytes) -> None:
        """Hand in a cosigned head, as a witness; raises EvidenceUnreadableError."""
        self._call(self._stub.Cosign, wire.CosignRequest(checkpoint=note))

    def _call(self, method: Callable[..., Any], request: Any) -> Any:
        try:
            return method(request, timeout=_CALL_SECONDS)
        except grpc.RpcError as error:
            code = _code(error)
            kind = EvidenceLostError if self._log and code in _LOST else EvidenceUnreadableError
            raise kind(f"the log of {self._name} cannot be read ({code})") from None

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()


def _code(error: Any) -> str:
    """The error's code, ours if the service gave one of ours."""
    for key, value in error.trailing_metadata() or ():
        if key == CODE_KEY and value in set(Code):
            return str(value)
    return str(error.code().name).lower()
