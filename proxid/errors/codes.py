"""The codes of all failures, and the root that each kind of failure is an error under."""

from enum import StrEnum
from typing import ClassVar, Self


class Code(StrEnum):
    """Stable identifiers of failures; they appear in logs, metrics and evidence."""

    INTERNAL = "internal"
    CONFIG_INVALID = "config_invalid"
    INPUT_INVALID = "input_invalid"
    OUTPUT_FAILED = "output_failed"
    BUDGET_EXCEEDED = "budget_exceeded"
    ENCODING_INVALID = "encoding_invalid"
    MESSAGE_INVALID = "message_invalid"
    KEY_INVALID = "key_invalid"
    SIGNATURE_INVALID = "signature_invalid"
    HEADER_MISMATCH = "header_mismatch"
    LIMIT_EXCEEDED = "limit_exceeded"
    PROOF_INVALID = "proof_invalid"
    SEAL_INVALID = "seal_invalid"
    CREDENTIAL_INVALID = "credential_invalid"
    OVERSIZED = "oversized"
    COMMIT_MISMATCH = "commit_mismatch"
    RESPONSE_MISMATCH = "response_mismatch"
    CONSENT_INVALID = "consent_invalid"
    RECORD_MISMATCH = "record_mismatch"
    EPOCH_NOT_CURRENT = "epoch_not_current"
    EPOCH_KEY_STALE = "epoch_key_stale"
    CLOCK_DOUBTED = "clock_doubted"
    UPSTREAM_CLOCK_DOUBTED = "upstream_clock_doubted"
    NOT_FRESH = "not_fresh"
    NOT_REGISTERED = "not_registered"
    REPLAYED = "replayed"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    PEER_REFUSED = "peer_refused"
    CREDENTIAL_NEEDED = "credential_needed"
    UPSTREAM_UNREACHABLE = "upstream_unreachable"
    STORE_UNAVAILABLE = "store_unavailable"
    UPSTREAM_REFUSED = "upstream_refused"
    NOT_ANSWERED = "not_answered"
    REFUSED = "refused"
    CHILD_FAILED = "child_failed"
    GROUP_MISMATCH = "group_mismatch"
    EVIDENCE_UNREADABLE = "evidence_unreadable"
    EVIDENCE_FOREIGN = "evidence_foreign"
    EVIDENCE_OLDER = "evidence_older"
    VERSION_UNKNOWN = "version_unknown"
    EVIDENCE_LOST = "evidence_lost"
    AUDIT_STATE_DAMAGED = "audit_state_damaged"
    AUDIT_BUSY = "audit_busy"
    HOUSEHOLD_BUSY = "household_busy"
    RESTRICTION_VIOLATED = "restriction_violated"
    POOL_CLOSED = "pool_closed"
    OBJECTED = "objected"
    TREE_PROOF_INVALID = "tree_proof_invalid"
    NOTE_INVALID = "note_invalid"
    HISTORY_FORKED = "history_forked"
    LOG_DAMAGED = "log_damaged"
    LOG_FULL = "log_full"
    PAYLOAD_UNREADABLE = "payload_unreadable"
    NAME_ALIKE = "name_alike"
    NO_COMMON_POLICY = "no_common_policy"
    POLICY_UNACCEPTED = "policy_unaccepted"


class ProxidError(Exception):
    """Root of everything proxid raises on purpose.

    Attributes:
        rule: why, without data. where: host, file or peer that it is about; only commands say it, since a path or
            address is nobody else's. next: what to try, where that is known better than by the code (`steps.STEPS`).
    """

    code: ClassVar[Code] = Code.INTERNAL
    where: str = ""
    next: str = ""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule

    def at(self, where: str, next: str = "") -> Self:
        """The same error, with an address; whoever knows more has said so first."""
        self.where, self.next = self.where or where, self.next or next
        return self
