"""Padding, HPKE sealing and the answer's sealing (DESIGN 3, 5.1, 5.4)."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.crypto import hpke
from proxid.crypto.hpke import OVERHEAD, PUBLIC_SIZE, OpeningKey, SealingKey
from proxid.crypto.padding import pad, unpad
from proxid.crypto.response import BUCKETS, open_response, seal_response
from proxid.errors import EncodingError, KeyInvalidError, OversizedError, ProxidError, SealInvalidError
from tests.support import edwards, mutation, scene

SIZES = (16, 64, 256)
KEY, OTHER = scene.opening_key("one"), scene.opening_key("other")
RESPONSE_KEY, HASH = bytes(range(32)), hashlib.sha512(b"request").digest()


@given(st.binary(max_size=252))
def test_padding_round_trip_and_smallest_bucket(data: bytes) -> None:
    padded = pad(data, SIZES)
    assert len(padded) == min(size for size in SIZES if size >= len(data) + 4)
    assert unpad(padded, SIZES) == data


@given(st.binary(min_size=253, max_size=300))
def test_nothing_is_cut_to_fit(data: bytes) -> None:
    with pytest.raises(OversizedError):
        pad(data, SIZES)


@given(st.binary(max_size=100))
def test_only_what_pad_makes_is_unpadded(data: bytes) -> None:
    padded = pad(data, SIZES)
    for changed in mutation.changes(padded):
        try:
            other = unpad(changed, SIZES)
        except EncodingError:
            continue
        assert other != data
        assert pad(other, SIZES) == changed


@given(st.sampled_from((0, 3, *SIZES)).flatmap(lambda n: st.binary(min_size=n, max_size=n)))
def test_any_bytes_unpad_canonically_or_not_at_all(padded: bytes) -> None:
    try:
        assert pad(unpad(padded, SIZES), SIZES) == padded
    except EncodingError:
        return


@settings(max_examples=25)
@given(st.binary(max_size=300), st.binary(max_size=40), st.binary(max_size=40))
def test_hpke_opens_under_its_key_and_context_alone(plaintext: bytes, info: bytes, other: bytes) -> None:
    sealed = SealingKey(KEY.public.data).seal(plaintext, info)
    assert len(sealed) == len(plaintext) + OVERHEAD
    assert KEY.open(sealed, info) == plaintext
    with pytest.raises(SealInvalidError):
        OTHER.open(sealed, info)
    if other != info:
        with pytest.raises(SealInvalidError):
            KEY.open(sealed, other)


def test_hpke_every_change_is_refused() -> None:
    sealed = KEY.public.seal(b"what was said", b"context")
    for changed in mutation.changes(sealed):
        with pytest.raises(SealInvalidError):
            KEY.open(changed, b"context")


def test_hpke_seals_the_same_to_different_bytes() -> None:
    assert KEY.public.seal(b"x", b"") != KEY.public.seal(b"x", b"")


def test_hpke_key_is_its_seed() -> None:
    again = OpeningKey(KEY.seed)
    assert again.public.data == KEY.public.data
    assert again.open(KEY.public.seal(b"x", b"i"), b"i") == b"x"
    assert OpeningKey.generate(lambda n: KEY.seed[:n]).public.data == KEY.public.data


@pytest.mark.parametrize("size", [0, 32, PUBLIC_SIZE - 1, PUBLIC_SIZE + 1])
def test_hpke_keys_of_another_size_are_refused(size: int) -> None:
    with pytest.raises(KeyInvalidError):
        SealingKey(bytes(size))
    with pytest.raises(KeyInvalidError):
        OpeningKey(bytes(size % 96))


def test_hpke_malformed_lattice_key_is_refused() -> None:
    """FIPS 203 §7.2: coefficients at or above the modulus are no key."""
    with pytest.raises(KeyInvalidError):
        SealingKey(b"\xff" * PUBLIC_SIZE)


def test_hpke_small_order_keys_are_refused_when_sealed_to() -> None:
    """The u coordinates of small order, u = (1 + y) / (1 − y) of the curve's small-order points."""
    for point in edwards.TORSION:
        u = (1 + point.y) * pow(1 - point.y, -1, edwards.P) % edwards.P if point.y != 1 else 0
        public = KEY.public.data[: hpke.MLKEM_PUBLIC_SIZE] + edwards.scalar_bytes(u)
        with pytest.raises(KeyInvalidError, match="small order"):
            SealingKey(public).seal(b"x", b"")


def test_hpke_small_order_share_does_not_open() -> None:
    sealed = KEY.public.seal(b"x", b"")
    for u in (0, 1, edwards.P - 1):
        with pytest.raises(SealInvalidError):
            KEY.open(sealed[:1088] + edwards.scalar_bytes(u) + sealed[1120:], b"")


@settings(max_examples=50)
@given(st.binary(max_size=1000), st.binary(min_size=32, max_size=32), st.binary(min_size=64, max_size=64))
def test_response_round_trip_in_fixed_sizes(answer: bytes, key: bytes, request_hash: bytes) -> None:
    body = seal_response(answer, key, request_hash)
    assert len(body) - 32 in BUCKETS
    assert open_response(body, key, request_hash) == answer


def test_response_every_change_is_refused() -> None:
    body = seal_response(b"it is noon", RESPONSE_KEY, HASH)
    for changed in mutation.changes(body):
        with pytest.raises(SealInvalidError):
            open_response(changed, RESPONSE_KEY, HASH)


def test_response_of_another_request_or_key_is_refused() -> None:
    body = seal_response(b"it is noon", RESPONSE_KEY, HASH)
    for key, request_hash in ((RESPONSE_KEY, hashlib.sha512(b"other").digest()), (bytes(32), HASH)):
        with pytest.raises(SealInvalidError):
            open_response(body, key, request_hash)


def test_response_sizes_are_fixed() -> None:
    for key, request_hash in ((RESPONSE_KEY[:-1], HASH), (RESPONSE_KEY, HASH[:32]), (RESPONSE_KEY, HASH + b"x")):
        with pytest.raises(SealInvalidError):
            seal_response(b"x", key, request_hash)
    with pytest.raises(SealInvalidError):
        seal_response(b"x", RESPONSE_KEY, HASH, random=lambda n: bytes(n - 1))


def test_salt_and_hash_boundary_cannot_move() -> None:
    """salt ‖ hash would derive the same key with the boundary one byte further on: sizes are checked."""
    body = seal_response(b"x", RESPONSE_KEY, HASH, random=lambda n: bytes(range(n)))
    with pytest.raises(ProxidError):
        open_response(body[:15], RESPONSE_KEY, body[15:16] + HASH)


def test_response_is_never_sealed_twice_under_one_key() -> None:
    bodies = {seal_response(b"same", RESPONSE_KEY, HASH) for _ in range(64)}
    assert len({body[:16] for body in bodies}) == len({body[16:] for body in bodies}) == 64


def test_response_above_the_largest_bucket_is_refused() -> None:
    with pytest.raises(OversizedError):
        seal_response(bytes(BUCKETS[-1] - 3), RESPONSE_KEY, HASH)
