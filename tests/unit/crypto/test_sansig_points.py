"""Malleability (S + L), small-order, mixed-order and non-canonical points as keys and as R, everywhere one is taken."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from nacl import bindings
from nacl.exceptions import BadSignatureError

from proxid.crypto import ed25519
from proxid.crypto.identity import Credential, Enrolment
from proxid.crypto.sansig import Message, Role, SignedMessage, judge
from proxid.errors import KeyInvalidError, SignatureInvalidError
from tests.support import edwards, scene
from tests.support.edwards import BASE, IDENTITY, TORSION, L

SMALL = [e for point in TORSION for e in (bytes(point), *point.alternative_encodings())]
SCALAR = edwards.secret_scalar(scene.DEVICE.seed)
MIXED = [bytes(SCALAR * BASE + torsion) for torsion in TORSION[1:]]
NOT_POINTS = [
    bytes([2]) + bytes(31),  # y = 2 is on no point
    b"\xff" * 32,
    edwards.scalar_bytes(edwards.P + 3),  # the encoding of y = 3, not reduced
    edwards.scalar_bytes(edwards.P),
]
BAD_KEYS = SMALL + MIXED + NOT_POINTS


def _malleated(signature: bytes) -> Iterator[bytes]:
    """S + L, S + 2L, … as long as 32 bytes hold it: 14 or 15 other signatures of a lenient verifier."""
    s = int.from_bytes(signature[32:], "little") + L
    while s < 1 << 256:
        yield signature[:32] + edwards.scalar_bytes(s)
        s += L


def _lenient(key: bytes, message: bytes, signature: bytes) -> bool:
    """Cofactored verification without any check of points or S (as ZIP 215 accepts): 8·S·B = 8·R + 8·k·A."""
    a, r = _decode(key), _decode(signature[:32])
    k, s = edwards.challenge(signature[:32], key, message), int.from_bytes(signature[32:], "little")
    return 8 * (s * BASE) == 8 * (r + k * a)


def _decode(data: bytes) -> edwards.Point:
    value = int.from_bytes(data, "little")
    point = edwards.recover(value % (1 << 255) % edwards.P, value >> 255)
    assert point is not None
    return point


def test_s_plus_l_in_either_signature() -> None:
    for signed in (scene.request(), scene.sanitized()):
        fixed, full = list(_malleated(signed.fixed)), list(_malleated(signed.full))
        assert len(fixed) >= 14
        assert _lenient(scene.DEVICE.public, signed.message.fixed_input, fixed[0])
        for signature in [f + signed.full for f in fixed] + [signed.fixed + f for f in full]:
            with pytest.raises(SignatureInvalidError):
                judge(SignedMessage(signed.message, signature))


def test_s_plus_l_in_links_and_credentials() -> None:
    link, credential = scene.link(), scene.credential()
    for half in (slice(0, 64), slice(64, 128)):
        for signature in _malleated(link.signature[half]):
            whole = signature + link.signature[64:] if half.start == 0 else link.signature[:64] + signature
            with pytest.raises(SignatureInvalidError):
                replace(link, signature=whole).verify(scene.enrolment())
    for signature in _malleated(credential.signature):
        with pytest.raises(SignatureInvalidError):
            replace(credential, signature=signature).verify(scene.SCREENER.public, scene.MS, scene.EPOCH, scene.NOW)


def test_high_bits_of_s() -> None:
    signature = scene.DEVICE.sign(b"m")
    for bit in (0x10, 0x20, 0x40, 0x80, 0xE0):
        changed = signature[:63] + bytes([signature[63] | bit])
        if changed != signature:
            with pytest.raises(SignatureInvalidError):
                ed25519.verify(scene.DEVICE.public, b"m", changed)


@pytest.mark.parametrize("key", BAD_KEYS, ids=lambda k: k.hex()[:8])
def test_bad_points_as_any_key(key: bytes) -> None:
    with pytest.raises(KeyInvalidError):
        ed25519.verify_key(key)
    signed = scene.request()
    for name in ("signer", "sanitizer"):
        message = Message(replace(signed.header, **{name: key}), scene.BLOCKS)  # type: ignore[arg-type]
        for role in Role:
            with pytest.raises(KeyInvalidError):
                judge(scene.raw_sign(message, scene.DEVICE, scene.SCREENER, role))
    _identity_refuses(key)


def _identity_refuses(key: bytes) -> None:
    enrolment = scene.enrolment()
    body_of: list[Callable[[], object]] = [
        lambda: Enrolment.issue(scene.USER_ID, key, scene.NOW, scene.AUTHORITY),
        lambda: replace(enrolment, user_key=key).verify(scene.AUTHORITY.public),
        lambda: enrolment.verify(key),
        lambda: replace(scene.link(), user_key=key).verify(replace(enrolment, user_key=key)),
        lambda: scene.credential().verify(key, scene.MS, scene.EPOCH, scene.NOW),
        lambda: (
            Credential(key, scene.EPOCH, scene.MS, scene.NOW, True)
            .issue(scene.SCREENER)
            .verify(scene.SCREENER.public, scene.MS, scene.EPOCH, scene.NOW)
        ),
        lambda: scene.epoch_key().verify(key, scene.MS, scene.EPOCH),
    ]
    for attempt in body_of:
        with pytest.raises(KeyInvalidError):
            attempt()


def test_bad_points_as_epoch_key_of_a_link() -> None:
    """With the user's own, honest half: the proof of possession must not hold under a key that signs anything."""
    for key in BAD_KEYS:
        unsigned = replace(scene.link(), epoch_key=key)
        forged = replace(unsigned, signature=scene.USER.sign(unsigned._body()) + bytes(IDENTITY) + bytes(32))
        with pytest.raises(KeyInvalidError):
            forged.verify(scene.enrolment())


def test_a_key_of_small_order_would_sign_everything() -> None:
    """Why they are refused: with A = identity, (R, S) = (B, 1) holds for every message under lenient rules."""
    signature = bytes(BASE) + edwards.scalar_bytes(1)
    for message in (b"", b"anything", scene.request().message.fixed_input):
        assert _lenient(bytes(IDENTITY), message, signature)
        with pytest.raises(KeyInvalidError):
            ed25519.verify(bytes(IDENTITY), message, signature)


def test_a_key_of_mixed_order_divides_verifiers() -> None:
    """A = aB + T with k·T = 0: libsodium's own verification takes it for some messages; the key rule refuses all."""
    key = MIXED[3]  # T of order 2
    assert _decode(key) + SCALAR * BASE != IDENTITY
    taken = 0
    for n in range(16):
        message = b"message %d" % n
        k = edwards.challenge(bytes(BASE), key, message)
        signature = bytes(BASE) + edwards.scalar_bytes((1 + k * SCALAR) % L)
        try:
            bindings.crypto_sign_open(signature + message, key)
            taken += 1
        except BadSignatureError:
            pass
        with pytest.raises(KeyInvalidError):
            ed25519.verify(key, message, signature)
    assert 0 < taken < 16


def _sign_with_r(r: int, torsion: edwards.Point, sent: bytes | None, message: bytes) -> bytes:
    return edwards.sign_with_nonce(scene.DEVICE.seed, scene.DEVICE.public, message, r, torsion, sent)


def test_r_of_small_or_mixed_order_or_not_canonical() -> None:
    """Each holds under lenient rules, so that its owner could show one message to one and hide it from another."""
    message = scene.request().message.fixed_input
    ordinary = _sign_with_r(12345, IDENTITY, None, message)
    ed25519.verify(scene.DEVICE.public, message, ordinary)
    bad = [_sign_with_r(12345, torsion, None, message) for torsion in TORSION[1:]]
    for torsion in TORSION:
        bad += [_sign_with_r(0, torsion, sent, message) for sent in (None, *torsion.alternative_encodings())]
    assert len(bad) == 7 + 14
    for signature in bad:
        assert _lenient(scene.DEVICE.public, message, signature)
        with pytest.raises(SignatureInvalidError):
            ed25519.verify(scene.DEVICE.public, message, signature)
        with pytest.raises(SignatureInvalidError):
            judge(SignedMessage(scene.request().message, signature + scene.request().full))


def test_zero_signature_and_swapped_halves() -> None:
    signature = scene.DEVICE.sign(b"m")
    for changed in (
        bytes(64),
        bytes(IDENTITY) + bytes(32),
        signature[32:] + signature[:32],
        signature[:32] + bytes(32),
    ):
        with pytest.raises(SignatureInvalidError):
            ed25519.verify(scene.DEVICE.public, b"m", changed)
