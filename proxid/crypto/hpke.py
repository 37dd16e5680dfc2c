"""Sealing to a public key: HPKE (RFC 9180) with ML-KEM-768+X25519, HKDF-SHA256, ChaCha20-Poly1305 (DESIGN 3).

The context of a seal goes into `info`: the library has no associated data. A seal adds 1,136 bytes.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import mlkem, x25519
from cryptography.hazmat.primitives.hpke import (
    AEAD,
    KDF,
    KEM,
    MLKEM768X25519PrivateKey,
    MLKEM768X25519PublicKey,
    Suite,
)

from proxid.errors import KeyInvalidError, SealInvalidError

MLKEM_SEED_SIZE: Final = 64
X25519_SIZE: Final = 32
SEED_SIZE: Final = MLKEM_SEED_SIZE + X25519_SIZE
MLKEM_PUBLIC_SIZE: Final = 1184
PUBLIC_SIZE: Final = MLKEM_PUBLIC_SIZE + X25519_SIZE
OVERHEAD: Final = 1136

_SUITE = Suite(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)


class SealingKey:
    """A public key that bodies are sealed to.

    Args:
        data: 1,216 bytes, ML-KEM-768 encapsulation key ‖ X25519 public key.
    """

    __slots__ = ("_key", "data")

    def __init__(self, data: bytes) -> None:
        if len(data) != PUBLIC_SIZE:
            raise KeyInvalidError("an HPKE public key has 1216 bytes")
        try:
            kem = mlkem.MLKEM768PublicKey.from_public_bytes(data[:MLKEM_PUBLIC_SIZE])
            curve = x25519.X25519PublicKey.from_public_bytes(data[MLKEM_PUBLIC_SIZE:])
        except ValueError:
            raise KeyInvalidError("an HPKE public key is malformed") from None
        self._key = MLKEM768X25519PublicKey(kem, curve)
        self.data = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SealingKey) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def seal(self, plaintext: bytes, info: bytes) -> bytes:
        """encapsulated key ‖ ciphertext, 1,136 bytes longer than the plaintext.

        Raises:
            KeyInvalidError: the key's X25519 half is of small order, so that the shared secret would be known.
        """
        try:
            return bytes(_SUITE.encrypt(plaintext, self._key, info))
        except ValueError:
            raise KeyInvalidError("an HPKE public key is of small order") from None


class OpeningKey:
    """The secret half, held as a seed.

    Args:
        seed: 96 secret bytes, ML-KEM-768 seed (d ‖ z) ‖ X25519 secret. Whoever learns them opens every seal.
        before: keys whose place it took: what was sealed to one of them is opened, too.
    """

    __slots__ = ("_key", "_seed", "before", "public")

    def __init__(self, seed: bytes, before: Sequence["OpeningKey"] = ()) -> None:
        if len(seed) != SEED_SIZE:
            raise KeyInvalidError("an HPKE seed has 96 bytes")
        kem = mlkem.MLKEM768PrivateKey.from_seed_bytes(seed[:MLKEM_SEED_SIZE])
        curve = x25519.X25519PrivateKey.from_private_bytes(seed[MLKEM_SEED_SIZE:])
        self._key = MLKEM768X25519PrivateKey(kem, curve)
        self._seed, self.before = seed, tuple(before)
        public = kem.public_key().public_bytes_raw() + curve.public_key().public_bytes_raw()
        self.public = SealingKey(public)

    @classmethod
    def generate(cls, random: Callable[[int], bytes] = os.urandom) -> "OpeningKey":
        """A fresh key from a source of random bytes."""
        return cls(random(SEED_SIZE))

    @property
    def seed(self) -> bytes:
        """The secret bytes, for storing the key."""
        return self._seed

    def open(self, sealed: bytes, info: bytes) -> bytes:
        """The plaintext; raises SealInvalidError for another key, another context or any change."""
        if len(sealed) < OVERHEAD:
            raise SealInvalidError("sealed body is truncated")
        for key in (self, *self.before):
            with suppress(InvalidTag, ValueError):
                return bytes(_SUITE.decrypt(sealed, key._key, info))
        raise SealInvalidError("sealed body does not open under this key and context")

    def __reduce__(self) -> NoReturn:
        raise KeyInvalidError("a secret key is never copied or pickled; store its seed")

    def __repr__(self) -> str:
        return "OpeningKey(…)"
