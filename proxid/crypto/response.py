"""The answer's sealing under the key that the request carried (DESIGN 5.4).

    key = HKDF-SHA256(response_key, salt = resp_salt16 ‖ request hash, info = "proxid/v1/response")
    body = resp_salt16 ‖ ChaCha20-Poly1305(key, nonce 0, padded answer, aad = request hash)

The salt is random for each sealing, so a key is used once and its nonce may be fixed.
"""

import hmac
import os
from collections.abc import Callable
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from proxid.crypto.padding import pad, unpad
from proxid.encoding import label
from proxid.errors import SealInvalidError

RESPONSE_KEY_SIZE: Final = 32
SALT_SIZE: Final = 16
REQUEST_HASH_SIZE: Final = 64
BUCKETS: Final = (512, 4096, 16384, 65536)
"""One fixed size for ordinary answers, coarse buckets for larger ones (bytes of padded plaintext)."""

_INFO = label("response")
_NONCE = bytes(12)


def _cipher(response_key: bytes, salt: bytes, request_hash: bytes) -> ChaCha20Poly1305:
    if len(response_key) != RESPONSE_KEY_SIZE:
        raise SealInvalidError("a response key has 32 bytes")
    # salt ‖ request hash tells where one ends only because both have one size.
    if len(salt) != SALT_SIZE or len(request_hash) != REQUEST_HASH_SIZE:
        raise SealInvalidError("a salt has 16 bytes and a request hash 64")
    # HKDF of one block is an HMAC to extract and one to expand (RFC 5869).
    extracted = hmac.digest(salt + request_hash, response_key, "sha256")
    return ChaCha20Poly1305(hmac.digest(extracted, _INFO + b"\x01", "sha256"))


def seal_response(
    answer: bytes, response_key: bytes, request_hash: bytes, random: Callable[[int], bytes] = os.urandom
) -> bytes:
    """Seal an answer (bytes) to the asker; raises OversizedError above the largest bucket."""
    salt = random(SALT_SIZE)
    sealed = _cipher(response_key, salt, request_hash).encrypt(_NONCE, pad(answer, BUCKETS), request_hash)
    return salt + sealed


def open_response(body: bytes, response_key: bytes, request_hash: bytes) -> bytes:
    """The answer.

    Raises:
        SealInvalidError: not the answer to this request under this key. EncodingError: sealed by its sender unpadded.
    """
    salt, sealed = body[:SALT_SIZE], body[SALT_SIZE:]
    try:
        padded = _cipher(response_key, salt, request_hash).decrypt(_NONCE, sealed, request_hash)
    except InvalidTag:
        raise SealInvalidError("answer does not open under the request's key") from None
    return unpad(padded, BUCKETS)
