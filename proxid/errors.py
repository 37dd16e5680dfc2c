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
    ENCODING_INVALID = "encoding_invalid"


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


class EncodingError(ProxidError):
    """Bytes are not the canonical encoding of anything (DESIGN 3)."""

    code = Code.ENCODING_INVALID
