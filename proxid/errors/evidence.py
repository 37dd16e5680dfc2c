"""Failures of evidence: a log that is damaged, forked or unreadable, and an audit that cannot judge."""

from proxid.errors.codes import Code, ProxidError


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


class PolicyUnacceptedError(ProxidError):
    """An auditor cannot judge epochs: it has not accepted their policy document, or lacks keys of its parties."""

    code = Code.POLICY_UNACCEPTED


class EvidenceOlderError(ProxidError):
    """Entries of an earlier version say too little to be judged."""

    code = Code.EVIDENCE_OLDER


class VersionUnknownError(ProxidError):
    """Entries go by a version of the pipeline, or name a rule, that this auditor does not have."""

    code = Code.VERSION_UNKNOWN
