"""Types of configuration values: names, addresses, durations, public keys, paths (DESIGN 16)."""

import base64
import binascii
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from proxid.crypto import ed25519
from proxid.crypto.hpke import SealingKey
from proxid.errors import InputError, KeyInvalidError
from proxid.runtime.config.loading import resolve
from proxid.runtime.config.wording import FINGERPRINT_PATTERN, NAME_PATTERN, PATTERNS

_UNITS = {"": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"^(\d+(?:\.\d+)?)\s*(|s|min|h|d)$")
_ADDRESS = re.compile(r"^(?P<host>[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})$")
CENTURY = 36_525 * 86_400
"""Seconds: longer than anything is waited for or kept."""
_STORE_SCHEMES = ("redis://", "rediss://", "unix://", "valkey://", "valkeys://")


def check_name(name: str) -> None:
    """Raises InputError, which says what a name is, for what is no name of a party."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise InputError(f"a party's name {PATTERNS[NAME_PATTERN]}")


def duration_text(seconds: float) -> str:
    """Seconds in the largest unit that holds them a whole number of times, as a `Duration` is read: `6 h`."""
    unit = next(name for name in ("d", "h", "min", "s", "") if not seconds % _UNITS[name] or not name)
    return f"{seconds / _UNITS[unit]:g} {unit}".rstrip()


def _duration(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    match = _DURATION.match(value)
    if match is None:
        raise ValueError("a duration is a number of seconds, or a number with s, min, h or d")
    return float(match[1]) * _UNITS[match[2]]


def _address(value: str) -> str:
    match = _ADDRESS.match(value)
    if match is None or int(match["port"]) > 65535:
        raise ValueError("an address is HOST:PORT")
    return value


def _store_url(value: str) -> str:
    if not value.startswith(_STORE_SCHEMES):
        raise ValueError("a store URL begins with redis://, rediss://, valkey:// or unix://")
    return value


def _decode_base64(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("a key is written in base64") from None


def _verify_key(value: bytes) -> bytes:
    try:
        ed25519.verify_key(value)
    except KeyInvalidError:
        raise ValueError("not an acceptable Ed25519 public key") from None
    return value


def _verify_sealing_key(value: bytes) -> bytes:
    try:
        SealingKey(value)
    except KeyInvalidError:
        raise ValueError("not an HPKE public key of 1216 bytes") from None
    return value


Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
"""A party's, bundle's or household's name: lower-case letters, digits, dot, dash, underscore."""

Address = Annotated[str, AfterValidator(_address)]
"""HOST:PORT; port 0 takes a free one."""

Duration = Annotated[float, BeforeValidator(_duration), Field(le=CENTURY)]
"""Seconds, a hundred years at most; written as a number or as text such as "15 min" or "6h"."""

StoreUrl = Annotated[str, AfterValidator(_store_url)]

Fingerprint = Annotated[str, StringConstraints(pattern=FINGERPRINT_PATTERN)]
"""SHA-256 of a certificate's DER form, lower-case hexadecimal."""

VerifyKey = Annotated[bytes, BeforeValidator(_decode_base64), AfterValidator(_verify_key)]
"""An Ed25519 public key, 32 bytes, written in base64."""

SealKey = Annotated[bytes, BeforeValidator(_decode_base64), AfterValidator(_verify_sealing_key)]
"""An HPKE public key, 1,216 bytes, written in base64."""

ConfigPath = Annotated[Path, AfterValidator(resolve)]
"""A path; relative ones start from the configuration's folder."""
