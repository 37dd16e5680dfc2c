"""The one error hierarchy: a root, one class and one code for each kind of failure.

A message names the rule that was broken, never the data that broke it: messages may reach logs, peers and
terminals. `proxid.runtime.transport.status` maps every code to a gRPC status and a public message.
"""

from enum import StrEnum
from typing import ClassVar


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
    EVIDENCE_LOST = "evidence_lost"
    AUDIT_STATE_DAMAGED = "audit_state_damaged"
    AUDIT_BUSY = "audit_busy"
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
    """Root of everything proxid raises on purpose."""

    code: ClassVar[Code] = Code.INTERNAL

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


class ConfigError(ProxidError):
    """A configuration key is unknown, missing or out of range; the rule names the key."""

    code = Code.CONFIG_INVALID


class InputError(ProxidError):
    """A file or an argument given by the user is unusable; the rule says where, not what it held."""

    code = Code.INPUT_INVALID


class OutputError(ProxidError):
    """A file could not be written whole (no space, no permission); nothing of it was left under its name."""

    code = Code.OUTPUT_FAILED


class BudgetError(ProxidError):
    """A release would spend more than its input's declared privacy budget (DESIGN 13)."""

    code = Code.BUDGET_EXCEEDED


class EncodingError(ProxidError):
    """Bytes are not the canonical encoding of anything (DESIGN 3)."""

    code = Code.ENCODING_INVALID


class MessageInvalidError(ProxidError):
    """A message has the wrong number of blocks, or a block of the wrong size."""

    code = Code.MESSAGE_INVALID


class KeyInvalidError(ProxidError):
    """A key is malformed, or not the one that must be used here."""

    code = Code.KEY_INVALID


class SignatureInvalidError(ProxidError):
    """A signature does not hold under the key and in the role that it must."""

    code = Code.SIGNATURE_INVALID


class HeaderMismatchError(ProxidError):
    """A signed header differs from configuration or registration (DESIGN 5.0)."""

    code = Code.HEADER_MISMATCH


class LimitError(ProxidError):
    """LIM forbids the new user block (DESIGN 4.3)."""

    code = Code.LIMIT_EXCEEDED


class ProofInvalidError(ProxidError):
    """A proof does not show what it claims (DESIGN 4.1)."""

    code = Code.PROOF_INVALID


class SealInvalidError(ProxidError):
    """A sealed body does not open under this key and context."""

    code = Code.SEAL_INVALID


class CredentialError(ProxidError):
    """An enrolment, link, credential or epoch key is for somebody or something else (DESIGN 4.3)."""

    code = Code.CREDENTIAL_INVALID


class OversizedError(ProxidError):
    """A plaintext is larger than the largest size bucket."""

    code = Code.OVERSIZED


class RestrictionError(ProxidError):
    """A group breaks a restriction of the anonymiser (002 restrictions 4.1, 4.2; DESIGN 8.4): it is withheld."""

    code = Code.RESTRICTION_VIOLATED


class PoolClosedError(ProxidError):
    """The epoch's pool is closed and takes no more records (DESIGN 8.6)."""

    code = Code.POOL_CLOSED


class CommitMismatchError(ProxidError):
    """A commit does not match what was sealed (DESIGN 5.3 check 6)."""

    code = Code.COMMIT_MISMATCH


class ResponseMismatchError(ProxidError):
    """A response is for another user or request (DESIGN 5.4)."""

    code = Code.RESPONSE_MISMATCH


class ConsentError(ProxidError):
    """A consent message is unknown, stale or not what the bundle grants (DESIGN 7)."""

    code = Code.CONSENT_INVALID


class RecordMismatchError(ProxidError):
    """A log record is for another party, or its parts disagree (DESIGN 9)."""

    code = Code.RECORD_MISMATCH


class EpochError(ProxidError):
    """A message is for an epoch that is over or has not begun (DESIGN 5.2 check 2)."""

    code = Code.EPOCH_NOT_CURRENT


class ClockError(ProxidError):
    """This service cannot rely on its clock: it jumped, or differs from the other side's (DESIGN 4.3)."""

    code = Code.CLOCK_DOUBTED


class FreshnessError(ProxidError):
    """A message's time is outside the allowed skew (DESIGN 5.2 check 2)."""

    code = Code.NOT_FRESH


class NameAlikeError(ProxidError):
    """A new USER_ID is, or looks like, that of somebody who is registered."""

    code = Code.NAME_ALIKE


class RegistrationError(ProxidError):
    """A key is not registered, replaced, or its user is erased (DESIGN 5.2 check 3)."""

    code = Code.NOT_REGISTERED


class NonceReplayError(ProxidError):
    """A nonce was used before for another message (DESIGN 5.2 check 5)."""

    code = Code.REPLAYED


class RateLimitError(ProxidError):
    """A user sends more requests than allowed (DESIGN 5.2 check 6)."""

    code = Code.RATE_LIMITED


class PeerRefusedError(ProxidError):
    """The caller's certificate does not allow this call (DESIGN 2)."""

    code = Code.PEER_REFUSED


class CredentialNeededError(ProxidError):
    """MS does not know this epoch key yet; send its credential."""

    code = Code.CREDENTIAL_NEEDED


class UpstreamError(ProxidError):
    """The Main Service cannot be reached."""

    code = Code.UPSTREAM_UNREACHABLE


class StoreError(ProxidError):
    """The store is away or full."""

    code = Code.STORE_UNAVAILABLE


class LogFullError(StoreError):
    """The evidence folder has no room: nothing that has to be logged is taken until it has (DESIGN 10.2)."""

    code = Code.LOG_FULL


class UpstreamRefusedError(ProxidError):
    """The Main Service refused a forwarded message, and has recorded that."""

    code = Code.UPSTREAM_REFUSED


class StaleKeyError(UpstreamRefusedError):
    """The Main Service does not hold (any more) what a message was sealed to: a new epoch key has to be fetched."""

    code = Code.EPOCH_KEY_STALE


class UpstreamClockError(UpstreamRefusedError):
    """The Main Service cannot rely on its clock."""

    code = Code.UPSTREAM_CLOCK_DOUBTED


class ResponderError(ProxidError):
    """A responder failed, took too long, or gave nothing that is an answer (DESIGN 5.5)."""

    code = Code.NOT_ANSWERED


class GroupMismatchError(ProxidError):
    """A group is not what the log's replay forms or allows (DESIGN 10.4 check 5)."""

    code = Code.GROUP_MISMATCH


class EvidenceUnreadableError(ProxidError):
    """A service's log cannot be read: the audit is unchecked, not clean."""

    code = Code.EVIDENCE_UNREADABLE


class EvidenceLostError(EvidenceUnreadableError):
    """A service says that leaves of its log are damaged, and cannot show even their hashes."""

    code = Code.EVIDENCE_LOST


class EvidenceForeignError(EvidenceUnreadableError):
    """The auditor's keys or configuration are not those of this evidence: nothing was checked."""

    code = Code.EVIDENCE_FOREIGN


class AuditStateError(EvidenceUnreadableError):
    """What the last audit left is damaged, in part missing, or another auditor's: nothing was checked."""

    code = Code.AUDIT_STATE_DAMAGED


class AuditBusyError(EvidenceUnreadableError):
    """Another audit goes on from the same state: nothing was checked."""

    code = Code.AUDIT_BUSY


class RefusedError(ProxidError):
    """The other side refused a call; `remote` is the code it gave."""

    code = Code.REFUSED

    def __init__(self, remote: Code, rule: str = "") -> None:
        super().__init__(rule or f"refused by the other side ({remote.value})")
        self.remote = remote


class ObjectedError(ProxidError):
    """The person has objected to any passing on: no grant is taken until that is taken back (DESIGN 11)."""

    code = Code.OBJECTED


class TreeProofError(ProxidError):
    """An inclusion or consistency proof does not show what it claims (RFC 9162 §2.1; DESIGN 10.2)."""

    code = Code.TREE_PROOF_INVALID


class NoteInvalidError(ProxidError):
    """A checkpoint, cosignature or proof bundle is malformed or not signed by whom it must (DESIGN 10.2)."""

    code = Code.NOTE_INVALID


class HistoryForkedError(ProxidError):
    """A log shows another history than before (DESIGN 10.4 check 1)."""

    code = Code.HISTORY_FORKED


class LogDamagedError(ProxidError):
    """A log's files contradict each other beyond what a crash can leave: the service stops (DESIGN 10.2)."""

    code = Code.LOG_DAMAGED


class PayloadUnreadableError(ProxidError):
    """A payload does not open under its chain key, or the key is gone (DESIGN 10.2, 10.3)."""

    code = Code.PAYLOAD_UNREADABLE


class ChildError(ProxidError):
    """A process that this one started ended, or did not do its part in time; the rule names it."""

    code = Code.CHILD_FAILED


class PolicyError(ProxidError):
    """Gateway and Main Service hold no policy document in common, or the one that an epoch goes by is not here."""

    code = Code.NO_COMMON_POLICY


class PolicyUnacceptedError(ProxidError):
    """An auditor cannot judge epochs: it has not accepted their policy document, or lacks keys of its parties."""

    code = Code.POLICY_UNACCEPTED
