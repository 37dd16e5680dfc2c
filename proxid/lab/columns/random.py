"""Random numbers for compiled loops: a ChaCha20 keystream read as 32-bit words (DESIGN 8.4).

Who is published with whose record must not be predictable from what was published before, so the words come from a
cipher under a fresh 256-bit key. A number below b is exactly uniform (Lemire's multiplication with rejection).
"""

import hashlib
import secrets

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from proxid.encoding import encode, label
from proxid.lab.logs.jit import Longs, Scalar, inlined

FILE_SEED_LABEL = label("file-seed")
_WORDS = 1 << 18
Words = npt.NDArray[np.uint32]


@inlined
def below(words: Words, used: Longs, bound: Scalar) -> Scalar:
    """A uniform number in 0 … bound - 1 (0 < bound < 2^31); takes words at used[0]."""
    wide = np.uint64(bound)
    while True:
        product = np.uint64(words[used[0]]) * wide
        used[0] += 1
        low = product & np.uint64(0xFFFFFFFF)
        if low >= wide or low >= (np.uint64(1 << 32) - wide) % wide:
            return np.int64(product >> np.uint64(32))


class WordSource:
    """A supply of words that a compiled loop takes from; `refill` between calls."""

    def __init__(self, seed: int | None = None) -> None:
        """A fresh secret key; a seed (for experiments alone) makes the release reproducible."""
        key = secrets.token_bytes(32)
        if seed is not None:
            key = hashlib.sha256(encode(FILE_SEED_LABEL, str(seed))).digest()
        self._stream = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor()
        self.words: Words = np.empty(0, np.uint32)
        self.used: Longs = np.zeros(1, np.int64)

    def refill(self, wanted: int) -> None:
        """See to it that at least so many words are left."""
        left = len(self.words) - int(self.used[0])
        if left >= wanted:
            return
        fresh = np.frombuffer(self._stream.update(bytes(4 * max(wanted, _WORDS))), "<u4")
        self.words = np.concatenate([self.words[int(self.used[0]) :], fresh]).astype(np.uint32, copy=False)
        self.used[0] = 0
