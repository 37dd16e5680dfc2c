"""Ed25519 against public vectors: RFC 8032, Wycheproof, C2SP CCTV (sources in the files; DESIGN 3)."""

import json
from collections import Counter

import pytest
from nacl import bindings
from nacl.exceptions import BadSignatureError

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import KeyInvalidError, ProxidError, SignatureInvalidError
from tests.support import cctv, edwards
from tests.support.vectors import load

RFC8032 = load("ed25519_rfc8032.json")["vectors"]
WYCHEPROOF = load("ed25519_wycheproof.json")["vectors"]
CCTV = load("ed25519_cctv.json")["vectors"]


def _verdict(key: str, message: bytes, signature: str) -> str:
    try:
        ed25519.verify(bytes.fromhex(key), message, bytes.fromhex(signature))
    except ProxidError as error:
        return type(error).__name__
    return "accepted"


@pytest.mark.parametrize("vector", RFC8032, ids=lambda v: v["name"])
def test_rfc8032_signs_and_verifies(vector: dict[str, str]) -> None:
    key, message = SigningKey(bytes.fromhex(vector["seed"])), bytes.fromhex(vector["msg"])
    assert key.public.hex() == vector["key"]
    assert key.sign(message).hex() == vector["sig"]
    assert _verdict(vector["key"], message, vector["sig"]) == "accepted"


def test_wycheproof_every_result_agrees() -> None:
    assert len(WYCHEPROOF) == 210
    for vector in WYCHEPROOF:
        accepted = _verdict(vector["key"], bytes.fromhex(vector["msg"]), vector["sig"]) == "accepted"
        assert accepted == (vector["result"] == "valid"), vector["tcId"]


def test_cctv_file_is_what_the_definition_gives() -> None:
    rebuilt = cctv.generate()
    assert [v | {"flags": v["flags"] or []} for v in CCTV] == rebuilt
    # As the publisher indents it, the published file has 351,077 bytes; an empty list of flags is null there.
    published = json.dumps(CCTV, indent="\t") + "\n"
    assert len(rebuilt) == 914
    assert len(published) == 351_077


def test_cctv_libsodium_alone_accepts_43() -> None:
    accepted = 0
    for vector in CCTV:
        try:
            bindings.crypto_sign_open(
                bytes.fromhex(vector["sig"]) + vector["msg"].encode(), bytes.fromhex(vector["key"])
            )
            accepted += 1
        except BadSignatureError:
            pass
    assert accepted == 43


def test_cctv_strict_verifier_accepts_only_the_ordinary_signature() -> None:
    verdicts = {v["number"]: _verdict(v["key"], v["msg"].encode(), v["sig"]) for v in CCTV}
    accepted = [number for number, verdict in verdicts.items() if verdict == "accepted"]
    # Number 305 alone has no flag: both points in the prime-order subgroup, both encodings canonical.
    assert accepted == [305]
    assert [v["number"] for v in CCTV if not v["flags"]] == [305]
    # Of the rest, every key of small or mixed order falls by its key, what is left by its signature.
    assert Counter(verdicts.values()) == {"accepted": 1, "KeyInvalidError": 886, "SignatureInvalidError": 27}


def test_cctv_keys_fall_by_the_rule_that_their_flags_name() -> None:
    for vector in CCTV:
        flags = set(vector["flags"] or [])
        bad_key = bool(flags & {"low_order_A", "low_order_component_A", "non_canonical_A"})
        assert (_verdict(vector["key"], vector["msg"].encode(), vector["sig"]) == "KeyInvalidError") == bad_key


def test_small_order_points_are_the_eight_and_six_more_encodings() -> None:
    encodings = [e for point in edwards.TORSION for e in (bytes(point), *point.alternative_encodings())]
    assert len(set(encodings)) == 14
    for encoding in encodings:
        with pytest.raises(KeyInvalidError):
            ed25519.verify_key(encoding)


def test_an_independent_implementation_agrees() -> None:
    """The slow group arithmetic of the tests verifies what libsodium signs: S·B = R + k·A."""
    key, message = SigningKey(bytes(32)), b"proxid"
    signature = key.sign(message)
    a = edwards.secret_scalar(bytes(32))
    assert bytes(a * edwards.BASE) == key.public
    s = int.from_bytes(signature[32:], "little")
    k = edwards.challenge(signature[:32], key.public, message)
    assert bytes((s - k * a) % edwards.L * edwards.BASE) == signature[:32]


def test_wrong_sizes_are_refused() -> None:
    key = SigningKey(bytes(32))
    signature = key.sign(b"m")
    for size in (0, 31, 33):
        with pytest.raises(KeyInvalidError):
            ed25519.verify((key.public * 2)[:size], b"m", signature)
        with pytest.raises(KeyInvalidError):
            SigningKey(bytes(size))
    for size in (0, 63, 65, 128):
        with pytest.raises(SignatureInvalidError):
            ed25519.verify(key.public, b"m", (signature * 2)[:size])


def test_boundary_of_signature_and_message_does_not_move() -> None:
    """libsodium takes signature ‖ message as one: where one ends is for us to check."""
    key, message = SigningKey(bytes(32)), b"message"
    whole = key.sign(message) + message
    for at in (0, 1, 63, 65, 70):
        with pytest.raises(SignatureInvalidError):
            ed25519.verify(key.public, whole[at:], whole[:at])
    ed25519.verify(key.public, whole[64:], whole[:64])
