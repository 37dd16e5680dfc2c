"""What MS and the auditor must compute alike: the context of a seed's disclosure, the digests of shown texts."""

import hashlib

from proxid.encoding import encode, label

_DISCLOSURE = label("seed-disclosure")
_UNIT = label("unit")


def disclosure_info(service: str, epoch: int) -> bytes:
    """The context that an epoch's seed is sealed to the auditor in (DESIGN 8.4.1)."""
    return encode(_DISCLOSURE, service, epoch)


def unit_digest(text: str) -> bytes:
    """The name under which the ladder counts a text or unit (DESIGN 8.7): 16 bytes, no text."""
    return hashlib.sha256(encode(_UNIT, text)).digest()[:16]
