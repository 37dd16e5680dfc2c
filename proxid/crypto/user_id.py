"""What may be a USER_ID (DESIGN 4.3): a name that every verifier reads alike and that cannot pass for a PROX_ID.

A USER_ID is signed, compared byte for byte, shown to people and put where a PROX_ID stood. So it is NFC text of
1 to 128 bytes of UTF-8, of printing characters and single inner spaces. Only characters of Unicode 3.2 are taken,
the version that stringprep fixed (RFC 3454) and that every Python carries: whether a later character is assigned,
or how it normalises, depends on the version of Python, and two honest verifiers could disagree.
"""

import re
from functools import lru_cache
from typing import Final
from unicodedata import ucd_3_2_0

from proxid.crypto.sansig.limits import PROX_ID_LENGTH
from proxid.encoding import encode_text
from proxid.errors import CredentialError

MAX_USER_ID_SIZE: Final = 128
"""Bytes of UTF-8."""

_REFUSED: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
# Default-ignorable letters and marks, and the soft hyphen (a dash in 3.2): they show nothing.
_INVISIBLE: Final = frozenset(
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u3164\uffa0" + "".join(map(chr, range(0xFE00, 0xFE10)))
)
_PROX_FORM: Final = re.compile(rf"px1[a-z2-7]{{{PROX_ID_LENGTH - 3}}}", re.IGNORECASE)
_CACHED_IDS: Final = 65_536


def verify_user_id(user_id: str) -> None:
    """Accept a USER_ID.

    Raises:
        EncodingError: not NFC, or a lone surrogate. CredentialError: any other rule of this module is broken.
    """
    size, printing, prox_form = _judge(user_id)
    if not 0 < size <= MAX_USER_ID_SIZE:
        raise CredentialError("a USER_ID has 1 to 128 bytes")
    if not printing:
        raise CredentialError("a USER_ID holds characters that do not print, or spaces at an end or in a row")
    if prox_form:
        raise CredentialError("a USER_ID has the form of a PROX_ID")


@lru_cache(maxsize=_CACHED_IDS)
def _judge(user_id: str) -> tuple[int, bool, bool]:
    """Size in bytes, whether only printing characters and single inner spaces, whether the form of a PROX_ID."""
    words = user_id.split(" ")
    printing = all(words) and all(map(_prints, "".join(words)))
    return len(encode_text(user_id)), printing, _PROX_FORM.fullmatch(user_id) is not None


def _prints(character: str) -> bool:
    return ucd_3_2_0.category(character) not in _REFUSED and character not in _INVISIBLE
