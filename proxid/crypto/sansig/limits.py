"""LIM: what the sanitizer may put into the user block (DESIGN 4.3; limits after Canard & Jambert 2010).

A request's new user block is the PROX_ID that everybody can recompute from the signer's epoch key. A response's
or record's is the USER_ID, or the party's alias, that the link names: who can check that (device, auditor) does.
"""

import base64
import hashlib
import re
from enum import IntEnum
from functools import lru_cache
from typing import Final

from proxid.encoding import encode, label
from proxid.errors import LimitError

PROX_PREFIX: Final = "px1"
PROX_DIGEST_SIZE: Final = 20
PROX_ID_LENGTH: Final = len(PROX_PREFIX) + 32

_PROX = label("prox")
_FORM: Final = re.compile(PROX_PREFIX + "[a-z2-7]{32}")
_CACHED_IDS: Final = 16_384


class Limit(IntEnum):
    """The kinds of limit; the number stands in the signed header."""

    PROX_ID = 1
    LINKED_USER = 2
    LINKED_ALIAS = 3


@lru_cache(maxsize=_CACHED_IDS)
def prox_id(service: str, epoch: int, epoch_key: bytes) -> str:
    """PROX_ID = "px1" ‖ base32(SHA512(E("prox", MS, epoch, pk_e))[:20]): 35 lower-case characters."""
    digest = hashlib.sha512(encode(_PROX, service, epoch, epoch_key)).digest()[:PROX_DIGEST_SIZE]
    return PROX_PREFIX + base64.b32encode(digest).decode("ascii").lower()


def verify_prox_form(text: str) -> None:
    """That a text can be a PROX_ID at all; raises LimitError."""
    if not _FORM.fullmatch(text):
        raise LimitError("text is not a PROX_ID")


def verify_prox_id(block: bytes, service: str, epoch: int, epoch_key: bytes) -> str:
    """The user block as PROX_ID, if it is the one of this epoch key.

    Raises:
        LimitError: another PROX_ID, or none.
    """
    expected = prox_id(service, epoch, epoch_key)
    if block != expected.encode("ascii"):
        raise LimitError("user block is not the PROX_ID of the signing key")
    return expected
