"""Failures of a single message, key, signature, proof or group: whoever has the bytes can tell."""

from proxid.errors.codes import Code, ProxidError


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


class RestrictionError(ProxidError):
    """A group breaks a restriction of the anonymiser (002 restrictions 4.1, 4.2; DESIGN 8.4): it is withheld."""

    code = Code.RESTRICTION_VIOLATED


class PoolClosedError(ProxidError):
    """The epoch's pool is closed and takes no more records (DESIGN 8.6)."""

    code = Code.POOL_CLOSED
