"""From error codes to gRPC status; the public message is `proxid.errors.steps`' (docs/protocol.md).

A peer learns the code, the public message, and the rule's text, which never holds data.
"""

from typing import Final

import grpc

from proxid.errors import STEPS, Code, OverloadedError, ProxidError

_S = grpc.StatusCode

_STATUSES: Final[dict[Code, grpc.StatusCode]] = {
    Code.INTERNAL: _S.INTERNAL,
    Code.CONFIG_INVALID: _S.FAILED_PRECONDITION,
    Code.INPUT_INVALID: _S.INVALID_ARGUMENT,
    Code.ENCODING_INVALID: _S.INVALID_ARGUMENT,
    Code.MESSAGE_INVALID: _S.INVALID_ARGUMENT,
    Code.KEY_INVALID: _S.INVALID_ARGUMENT,
    Code.SIGNATURE_INVALID: _S.UNAUTHENTICATED,
    Code.HEADER_MISMATCH: _S.PERMISSION_DENIED,
    Code.LIMIT_EXCEEDED: _S.PERMISSION_DENIED,
    Code.PROOF_INVALID: _S.INVALID_ARGUMENT,
    Code.SEAL_INVALID: _S.INVALID_ARGUMENT,
    Code.CREDENTIAL_INVALID: _S.PERMISSION_DENIED,
    Code.OVERSIZED: _S.INVALID_ARGUMENT,
    Code.COMMIT_MISMATCH: _S.INVALID_ARGUMENT,
    Code.RESPONSE_MISMATCH: _S.DATA_LOSS,
    Code.OBJECTED: _S.FAILED_PRECONDITION,
    Code.TREE_PROOF_INVALID: _S.INVALID_ARGUMENT,
    Code.NOTE_INVALID: _S.INVALID_ARGUMENT,
    Code.LOG_DAMAGED: _S.DATA_LOSS,
    Code.LOG_FULL: _S.UNAVAILABLE,
    Code.EVIDENCE_UNREADABLE: _S.UNAVAILABLE,
    Code.CONSENT_INVALID: _S.FAILED_PRECONDITION,
    Code.RECORD_MISMATCH: _S.DATA_LOSS,
    Code.EPOCH_NOT_CURRENT: _S.FAILED_PRECONDITION,
    Code.EPOCH_KEY_STALE: _S.FAILED_PRECONDITION,
    Code.CLOCK_DOUBTED: _S.FAILED_PRECONDITION,
    Code.UPSTREAM_CLOCK_DOUBTED: _S.FAILED_PRECONDITION,
    Code.NOT_FRESH: _S.FAILED_PRECONDITION,
    Code.NOT_REGISTERED: _S.PERMISSION_DENIED,
    Code.NAME_ALIKE: _S.ALREADY_EXISTS,
    Code.NO_COMMON_POLICY: _S.FAILED_PRECONDITION,
    Code.REPLAYED: _S.ALREADY_EXISTS,
    Code.OVERLOADED: _S.UNAVAILABLE,
    Code.RATE_LIMITED: _S.RESOURCE_EXHAUSTED,
    Code.PEER_REFUSED: _S.PERMISSION_DENIED,
    Code.CREDENTIAL_NEEDED: _S.FAILED_PRECONDITION,
    Code.UPSTREAM_UNREACHABLE: _S.UNAVAILABLE,
    Code.UPSTREAM_REFUSED: _S.FAILED_PRECONDITION,
    Code.NOT_ANSWERED: _S.ABORTED,
    Code.STORE_UNAVAILABLE: _S.UNAVAILABLE,
}
TABLE: Final = {code: (status, STEPS[code].what) for code, status in _STATUSES.items()}
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
