"""The one table from error codes to gRPC status and public message (docs/protocol.md).

A peer learns the code, the public message, and the rule's text, which never holds data.
"""

from typing import Final

import grpc

from proxid.errors import Code, OverloadedError, ProxidError

_S = grpc.StatusCode

TABLE: Final[dict[Code, tuple[grpc.StatusCode, str]]] = {
    Code.INTERNAL: (_S.INTERNAL, "internal error"),
    Code.CONFIG_INVALID: (_S.FAILED_PRECONDITION, "configuration is invalid"),
    Code.INPUT_INVALID: (_S.INVALID_ARGUMENT, "input is invalid"),
    Code.ENCODING_INVALID: (_S.INVALID_ARGUMENT, "message is not canonically encoded"),
    Code.MESSAGE_INVALID: (_S.INVALID_ARGUMENT, "message is malformed"),
    Code.KEY_INVALID: (_S.INVALID_ARGUMENT, "key is not acceptable"),
    Code.SIGNATURE_INVALID: (_S.UNAUTHENTICATED, "signature does not hold"),
    Code.HEADER_MISMATCH: (_S.PERMISSION_DENIED, "message is for other circumstances"),
    Code.LIMIT_EXCEEDED: (_S.PERMISSION_DENIED, "user block is not allowed"),
    Code.PROOF_INVALID: (_S.INVALID_ARGUMENT, "proof does not hold"),
    Code.SEAL_INVALID: (_S.INVALID_ARGUMENT, "sealed body does not open"),
    Code.CREDENTIAL_INVALID: (_S.PERMISSION_DENIED, "credential is not acceptable"),
    Code.OVERSIZED: (_S.INVALID_ARGUMENT, "message is too large"),
    Code.COMMIT_MISMATCH: (_S.INVALID_ARGUMENT, "commit does not match"),
    Code.RESPONSE_MISMATCH: (_S.DATA_LOSS, "response does not match the request"),
    Code.OBJECTED: (_S.FAILED_PRECONDITION, "person has objected"),
    Code.TREE_PROOF_INVALID: (_S.INVALID_ARGUMENT, "proof cannot be made"),
    Code.NOTE_INVALID: (_S.INVALID_ARGUMENT, "checkpoint is not acceptable"),
    Code.LOG_DAMAGED: (_S.DATA_LOSS, "log is damaged"),
    Code.LOG_FULL: (_S.UNAVAILABLE, "evidence cannot be written"),
    Code.EVIDENCE_UNREADABLE: (_S.UNAVAILABLE, "evidence is not available"),
    Code.CONSENT_INVALID: (_S.FAILED_PRECONDITION, "consent is not acceptable"),
    Code.RECORD_MISMATCH: (_S.DATA_LOSS, "log record does not match"),
    Code.EPOCH_NOT_CURRENT: (_S.FAILED_PRECONDITION, "epoch is not current"),
    Code.EPOCH_KEY_STALE: (_S.FAILED_PRECONDITION, "epoch key is not in use"),
    Code.CLOCK_DOUBTED: (_S.FAILED_PRECONDITION, "clock is not reliable"),
    Code.UPSTREAM_CLOCK_DOUBTED: (_S.FAILED_PRECONDITION, "service cannot rely on its clock"),
    Code.NOT_FRESH: (_S.FAILED_PRECONDITION, "time is outside the allowed skew"),
    Code.NOT_REGISTERED: (_S.PERMISSION_DENIED, "key is not registered"),
    Code.NAME_ALIKE: (_S.ALREADY_EXISTS, "name looks like that of somebody who is registered"),
    Code.NO_COMMON_POLICY: (_S.FAILED_PRECONDITION, "gateway and main service have no policy in common"),
    Code.REPLAYED: (_S.ALREADY_EXISTS, "nonce was used before"),
    Code.OVERLOADED: (_S.UNAVAILABLE, "service is overloaded"),
    Code.RATE_LIMITED: (_S.RESOURCE_EXHAUSTED, "too many requests"),
    Code.PEER_REFUSED: (_S.PERMISSION_DENIED, "caller is not allowed"),
    Code.CREDENTIAL_NEEDED: (_S.FAILED_PRECONDITION, "credential is needed"),
    Code.UPSTREAM_UNREACHABLE: (_S.UNAVAILABLE, "service cannot be reached"),
    Code.UPSTREAM_REFUSED: (_S.FAILED_PRECONDITION, "service refused the message"),
    Code.NOT_ANSWERED: (_S.ABORTED, "there is no answer"),
    Code.STORE_UNAVAILABLE: (_S.UNAVAILABLE, "store is not available"),
}
"""Codes that cross the wire."""

LOCAL: Final = frozenset({
    Code.OUTPUT_FAILED, Code.BUDGET_EXCEEDED, Code.REFUSED, Code.CHILD_FAILED, Code.GROUP_MISMATCH,
    Code.RESTRICTION_VIOLATED, Code.POOL_CLOSED,
    Code.POLICY_UNACCEPTED, Code.HISTORY_FORKED, Code.PAYLOAD_UNREADABLE, Code.EVIDENCE_FOREIGN,
    Code.EVIDENCE_OLDER, Code.VERSION_UNKNOWN, Code.EVIDENCE_LOST,
    Code.AUDIT_STATE_DAMAGED, Code.AUDIT_BUSY, Code.HOUSEHOLD_BUSY,
})  # fmt: skip
"""Codes of commands, of clients and of inner parts: should one ever reach a peer, it is told INTERNAL."""

CODE_KEY: Final = "proxid-code"
PUSHBACK_KEY: Final = "grpc-retry-pushback-ms"
"""The key that gRPC's own retries know (grpc/proposal A6)."""
_LONGEST: Final = 60_000
"""Milliseconds: a peer that says more is believed no more than this."""


def status_of(error: Exception) -> grpc.StatusCode:
    """The gRPC status of an error."""
    return TABLE[public_code(error)][0]


def public_code(error: Exception) -> Code:
    """The code that a caller is told: INTERNAL for whatever does not cross the wire."""
    return error.code if isinstance(error, ProxidError) and error.code in TABLE else Code.INTERNAL


def public_text(error: Exception) -> str:
    """What a caller is told of an error: the public message and, where its code crosses the wire, the rule."""
    message = TABLE[public_code(error)][1]
    return f"{message}: {error.rule}" if isinstance(error, ProxidError) and error.code in TABLE else message


def pushback_ms(error: Exception) -> int:
    """Milliseconds after which a caller may come back; 0 if the error does not say."""
    return round(1000 * error.pushback) if isinstance(error, OverloadedError) else 0


def trailing(error: Exception) -> tuple[tuple[str, str], ...]:
    """The trailing metadata of a failed call: its code and, of one that may be repeated, when."""
    pushback = pushback_ms(error)
    return (CODE_KEY, public_code(error).value), *([(PUSHBACK_KEY, str(pushback))] if pushback else [])


def pushback_of(error: grpc.aio.AioRpcError) -> float:
    """Seconds after which a failed call may be repeated, as it says; 0 if it does not."""
    said = [value for key, value in error.trailing_metadata() or () if key == PUSHBACK_KEY]
    return told_pushback(int(said[0]) if said and str(said[0]).isdecimal() else 0)


def told_pushback(milliseconds: int) -> float:
    """Seconds of what a peer said in milliseconds, within reason."""
    return min(milliseconds, _LONGEST) / 1000


def code_of(error: grpc.aio.AioRpcError) -> Code | None:
    """The proxid code that a failed call carries, if any."""
    for key, value in error.trailing_metadata() or ():
        if key == CODE_KEY and isinstance(value, str) and value in set(Code):
            return Code(value)
    return None
