"""Pinned vectors of suite 1, checked with an encoder and a verifier that share nothing with proxid (DESIGN 3, 4)."""

import base64
import hashlib
import hmac

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from proxid.crypto.response import seal_response
from proxid.crypto.sansig import Role, SignedMessage, judge
from tests.support import edwards, scene
from tests.support.golden import golden
from tests.support.vectors import load

VECTORS = load("sansig_suite1.json")


def _e(*items: bytes) -> bytes:
    return len(items).to_bytes(4, "big") + b"".join(len(x).to_bytes(4, "big") + x for x in items)


def _u64(value: int) -> bytes:
    return value.to_bytes(8, "big")


def _holds(key: bytes, message: bytes, signature: bytes) -> bool:
    """R = S·B − k·A, for a key whose scalar the vectors tell."""
    seed = next(bytes.fromhex(k["seed"]) for k in VECTORS["keys"].values() if bytes.fromhex(k["public"]) == key)
    k = edwards.challenge(signature[:32], key, message)
    r = (int.from_bytes(signature[32:], "little") - k * edwards.secret_scalar(seed)) % edwards.L
    return bytes(r * edwards.BASE) == signature[:32]


def test_nothing_changed() -> None:
    assert golden() == VECTORS


def test_header_and_inputs_are_the_documented_encodings() -> None:
    device, screener = scene.DEVICE.public, scene.SCREENER.public
    hdr = _e(
        _u64(1), _u64(1), _u64(1), b"ms.example", _u64(20454), device, screener, bytes(range(16)),
        _u64(scene.NOW * 1000), _u64(4), _u64(0), _u64(1),
    )  # fmt: skip
    assert hdr.hex() == VECTORS["header"]
    blocks = [bytes.fromhex(block) for block in VECTORS["blocks"]]
    fixed = _e(b"proxid/v1/FIX", hdr, _u64(1), blocks[1], _u64(2), blocks[2], _u64(3), blocks[3])
    assert fixed.hex() == VECTORS["fixed_input"]
    sigma_f, digest = bytes.fromhex(VECTORS["signature_sig"])[:64], hashlib.sha512(fixed).digest()
    for role, block in (("sig", blocks[0]), ("san", VECTORS["prox_id"].encode())):
        full = _e(b"proxid/v1/FULL", role.upper().encode(), digest, sigma_f, _u64(0), block)
        assert full.hex() == VECTORS[f"full_input_{role}"]
    assert hashlib.sha512(_e(b"proxid/v1/session", fixed, sigma_f)).hexdigest() == VECTORS["session_id"]


def test_signatures_hold_under_an_independent_verifier() -> None:
    fixed = bytes.fromhex(VECTORS["fixed_input"])
    for role, signer in (("sig", scene.DEVICE.public), ("san", scene.SCREENER.public)):
        signature = bytes.fromhex(VECTORS[f"signature_{role}"])
        assert _holds(scene.DEVICE.public, fixed, signature[:64])
        assert _holds(signer, bytes.fromhex(VECTORS[f"full_input_{role}"]), signature[64:])


def test_prox_id_is_the_documented_hash() -> None:
    digest = hashlib.sha512(_e(b"proxid/v1/prox", b"ms.example", _u64(20454), scene.DEVICE.public)).digest()[:20]
    assert VECTORS["prox_id"] == "px1" + base64.b32encode(digest).decode().lower()


def test_judge_on_the_vectors() -> None:
    for role, user_block in ((Role.SIGNER, VECTORS["blocks"][0]), (Role.SANITIZER, VECTORS["prox_id"].encode().hex())):
        signature = bytes.fromhex(VECTORS["signature_sig" if role is Role.SIGNER else "signature_san"])
        blocks = [bytes.fromhex(block) for block in (user_block, *VECTORS["blocks"][1:])]
        assert judge(SignedMessage.from_parts(bytes.fromhex(VECTORS["header"]), blocks, signature)) is role


def test_answers_are_sealed_as_documented() -> None:
    """HKDF-SHA256 (RFC 5869, one block) and the padding written out; the cipher is the library's."""
    secret, request_hash, salt = bytes(range(32)), hashlib.sha512(b"request").digest(), bytes(range(100, 116))
    body = seal_response(b"it is noon", secret, request_hash, random=lambda n: salt[:n])
    extracted = hmac.digest(salt + request_hash, secret, "sha256")
    derived = hmac.digest(extracted, b"proxid/v1/response" + b"\x01", "sha256")
    padded = (10).to_bytes(4, "big") + b"it is noon" + bytes(512 - 14)
    assert body == salt + ChaCha20Poly1305(derived).encrypt(bytes(12), padded, request_hash)


def test_pinned_seal_opens() -> None:
    """A library that changed the hybrid KEM would no longer open evidence that was sealed before."""
    (vector,) = load("hpke_pinned.json")["vectors"]
    key = scene.opening_key("service")
    assert key.seed.hex() == vector["seed"]
    assert hashlib.sha256(key.public.data).hexdigest() == vector["public_sha256"]
    opened = key.open(bytes.fromhex(vector["sealed"]), bytes.fromhex(vector["info"]))
    assert opened.hex() == vector["plaintext"]
