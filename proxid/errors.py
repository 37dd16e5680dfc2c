"""The one error hierarchy: a root, one class and one code for each kind of failure.

A message names the rule that was broken, never the data that broke it: messages may reach logs, peers and
terminals. `proxid.rpc.status` maps every code to a gRPC status and a public message.
"""

from enum import StrEnum
from typing import ClassVar


class Code(StrEnum):
    """Stable identifiers of failures; they appear in logs, metrics and evidence."""

    INTERNAL = "internal"
    CONFIG_INVALID = "config_invalid"
    INPUT_INVALID = "input_invalid"
    OUTPUT_FAILED = "output_failed"
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
    RESTRICTION_VIOLATED = "restriction_violated"
    POOL_CLOSED = "pool_closed"
    REPLAY_MISMATCH = "replay_mismatch"


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


class ReplayError(ProxidError):
    """An event is not what the pool's rules allow at this point of the log (DESIGN 10.4 (5))."""

    code = Code.REPLAY_MISMATCH
