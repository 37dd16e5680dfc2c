"""Keys of feeds: each party reads its own epochs' bodies, and all of a record follows from the seed (DESIGN 9)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey
from proxid.encoding import encode
from proxid.errors import EncodingError, ProxidError, SealInvalidError
from proxid.evidence.events import EpochOpened
from proxid.protocol.feedkey import TAG_SIZE, FeedKey, FeedKeyMessage
from proxid.protocol.record import BODY_SIZE, Filling, Mechanism, Place, RecordBody, body_hash

MS, ACME = SigningKey(bytes(31) + b"\x01"), OpeningKey(bytes(range(96)))
SEED = bytes(range(32))
BODY = RecordBody("aa" * 16, "general", Mechanism("mix", 3, 1, 2, 2), 7, 4, 900, 0, ("a", "b"), "hi")
SENT = FeedKey.of(SEED, "main-service", 7, "acme").seal(ACME.public, "main-service", 7, "acme").sign(MS)
WHERE = Place(4, 0, 5).encode()


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=2000), st.binary(max_size=80), st.binary(max_size=80))
def test_a_body_opens_for_its_key_digest_and_context_alone(
    seed: bytes, plaintext: bytes, digest: bytes, context: bytes
) -> None:
    key = FeedKey.of(seed, "main-service", 7, "acme")
    encrypted = key.encrypt(plaintext, digest, context)
    assert len(encrypted) == len(plaintext) + TAG_SIZE
    assert key.decrypt(encrypted, digest, context) == plaintext
    others = [FeedKey.of(seed, *place) for place in (("ms", 7, "acme"), ("main-service", 8, "acme"))]
    others.append(FeedKey.of(seed, "main-service", 7, "globex"))
    tries = [(other, digest, context) for other in others]
    for one, d, c in [*tries, (key, digest + b"x", context), (key, digest, context + b"x")]:
        with pytest.raises(SealInvalidError):
            one.decrypt(encrypted, d, c)


@given(st.integers(0, len(SENT.encode()) * 8 - 1))
def test_a_flipped_bit_of_a_sealed_key_is_refused(bit: int) -> None:
    data = bytearray(SENT.encode())
    data[bit // 8] ^= 1 << bit % 8
    with pytest.raises(ProxidError):
        FeedKeyMessage.decode(bytes(data)).verify(MS.public, "main-service", 7)


def test_a_sealed_key_is_its_partys_epochs_and_services() -> None:
    SENT.verify(MS.public, "main-service", 7)
    assert FeedKeyMessage.decode(SENT.encode()) == SENT
    made = Filling.of(BODY, WHERE, "acme", "main-service", SEED)
    context = encode(b"proxid/v1/record", "main-service", 7, "acme", WHERE)
    assert SENT.open(ACME).decrypt(made.encrypted, made.digest, context) == made.padded
    for service, epoch in (("ms", 7), ("main-service", 8)):
        with pytest.raises(ProxidError):
            SENT.verify(MS.public, service, epoch)
    for other in (replace(SENT, party="globex"), replace(SENT, epoch=8)):
        with pytest.raises(SealInvalidError):
            other.open(ACME)


@given(st.binary(min_size=32, max_size=32), st.integers(0, 50), st.sampled_from(("acme", "globex")))
def test_what_fills_a_record_follows_from_seed_place_and_party(seed: bytes, position: int, party: str) -> None:
    where = Place(4, position, 51).encode()
    made = Filling.of(BODY, where, party, "main-service", seed)
    assert made == Filling.of(BODY, where, party, "main-service", seed)
    assert (len(made.encrypted), made.digest) == (BODY_SIZE + TAG_SIZE, body_hash(made.padded))
    others = (
        Filling.of(BODY, Place(4, position, 52).encode(), party, "main-service", seed),
        Filling.of(BODY, where, party + "x", "main-service", seed),
        Filling.of(BODY, where, party, "main-service", seed[::-1] + b"x"),
    )
    for other in others:
        fields = ((x.padded, x.encrypted, x.digest, x.nonce) for x in (made, other))
        assert all(a != b for a, b in zip(*fields, strict=True))


@given(st.lists(st.binary(max_size=40), max_size=4), st.binary(max_size=20), st.integers(0, 1 << 50))
def test_an_epochs_keys_are_one_event_in_both_forms(feeds: list[bytes], key: bytes, time: int) -> None:
    opened = EpochOpened(key, b"sealed", b"opening", time, tuple(feeds))
    assert EpochOpened.decode(opened.payload) == opened
    assert EpochOpened.decode(encode(key, b"sealed", b"opening", time)) == replace(opened, feeds=())
    with pytest.raises(EncodingError):
        EpochOpened.decode(encode(key, b"", b"", time, encode(), b""))
