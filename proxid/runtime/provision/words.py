"""Words to compare by telephone: 80 bits of a hash as five words that can be read aloud in any language.

A word is 16 bits, consonant vowel consonant vowel consonant: nobody finds another file with the same five.
"""

import hashlib
from typing import Final

from proxid.encoding import encode, label

WORDS: Final = 5
_CONSONANTS: Final = "bdfghjklmnprstvz"
_VOWELS: Final = "aiou"
_LABEL: Final = label("words")


def words(*said: bytes) -> str:
    """The words of some byte strings in their order, with spaces between."""
    digest = hashlib.sha256(encode(_LABEL, *said)).digest()
    return " ".join(_word(int.from_bytes(digest[2 * i : 2 * i + 2])) for i in range(WORDS))


def same(heard: str, meant: str) -> bool:
    """Whether somebody read out these words, however they are written."""
    return _plain(heard) == _plain(meant)


def _word(bits: int) -> str:
    parts = []
    for letters in (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS):
        bits, at = divmod(bits, len(letters))
        parts.append(letters[at])
    return "".join(parts)


def _plain(text: str) -> list[str]:
    return text.lower().replace("-", " ").replace(",", " ").split()
