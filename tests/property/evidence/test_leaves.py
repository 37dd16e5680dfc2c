"""Leaves, ratchets and parts: round trips, changed bytes, erased keys, groups of which a part is gone."""

import hashlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.crypto.hpke import OpeningKey
from proxid.encoding import encode, label
from proxid.errors import EncodingError, PayloadUnreadableError, ProxidError
from proxid.evidence.events import DeliveredPayload, EventType, ReleasedPayload, encode_header, session_header
from proxid.evidence.leaf import Leaf, LeafHeader, Part, part_context, part_hash
from proxid.evidence.parts import NOBODY, join, split
from proxid.evidence.ratchet import Chain, ChainReader, open_seal, owner_commitment, owner_salt, subject_tag

RANDOM = random.Random(6)
EVIDENCE = OpeningKey.generate(RANDOM.randbytes)
AUDITOR = OpeningKey.generate(RANDOM.randbytes)
OTHER = OpeningKey.generate(RANDOM.randbytes)
LOG = "proxid/main-service/gateway"


def chain():
    return Chain(LOG, EVIDENCE.public, AUDITOR.public)


def test_a_chain_opens_with_both_keys_in_order():
    writer = chain()
    sealed = [writer.encrypt(b"payload %d" % i, b"context") for i in range(20)]
    assert [index for index, _ in sealed] == list(range(20))
    reader = ChainReader(open_seal(writer.seal, LOG, writer.tag, EVIDENCE, AUDITOR))
    for i in (0, 3, 4, 19):
        assert reader.decrypt(*sealed[i], b"context") == b"payload %d" % i
    with pytest.raises(PayloadUnreadableError):
        reader.decrypt(*sealed[4], b"context")


@pytest.mark.parametrize("keys", [(OTHER, AUDITOR), (EVIDENCE, OTHER), (AUDITOR, EVIDENCE)])
def test_neither_key_alone_opens_a_chain(keys):
    writer = chain()
    with pytest.raises(PayloadUnreadableError):
        open_seal(writer.seal, LOG, writer.tag, *keys)
    with pytest.raises(PayloadUnreadableError):
        open_seal(writer.seal, "proxid/main-service/main-service", writer.tag, EVIDENCE, AUDITOR)
    with pytest.raises(PayloadUnreadableError):
        open_seal(writer.seal, LOG, subject_tag(OTHER.public.data), EVIDENCE, AUDITOR)


def test_the_writer_cannot_read_back_what_it_wrote():
    writer = chain()
    index, ciphertext = writer.encrypt(b"payload", b"context")
    # What is left in the writer is the next key; a reader that starts from it never gets to the one before.
    left = ChainReader(writer._key)
    for skip in range(3):
        with pytest.raises(PayloadUnreadableError):
            left.decrypt(index + skip, ciphertext, b"context")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_changed_payload_or_place_does_not_open(data):
    writer = chain()
    index, ciphertext = writer.encrypt(b"payload", part_context(LOG, 7, 0, writer.tag))
    reader = ChainReader(open_seal(writer.seal, LOG, writer.tag, EVIDENCE, AUDITOR))
    at = data.draw(st.integers(0, len(ciphertext) - 1))
    bit = 1 << data.draw(st.integers(0, 7))
    changed = ciphertext[:at] + bytes([ciphertext[at] ^ bit]) + ciphertext[at + 1 :]
    place = data.draw(st.sampled_from([(LOG, 7, 0), (LOG, 8, 0), (LOG, 7, 1), ("other", 7, 0)]))
    if place == (LOG, 7, 0):
        ciphertext = changed
    with pytest.raises(PayloadUnreadableError):
        reader.decrypt(index, ciphertext, part_context(*place, writer.tag))


def test_an_owner_commitment_names_one_user_only():
    salt = owner_salt(EVIDENCE.seed)
    assert salt != owner_salt(OTHER.seed) and EVIDENCE.seed not in salt
    assert owner_commitment("alice", salt) != owner_commitment("bob", salt)
    assert owner_commitment("alice", salt) != owner_commitment("alice", owner_salt(OTHER.seed))


def leaf():
    parts = tuple(Part(tag, 3, b"seal", b"body").encode() for tag in (b"", bytes(16)))
    header = LeafHeader(9, EventType.FORWARDED, encode_header(session="ab"), tuple(
        (Part.decode(p).tag, part_hash(p)) for p in parts))  # fmt: skip
    return Leaf(bytes(16), header.encode(), parts), header


@given(
    st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.sampled_from(EventType),
    st.lists(st.binary(max_size=3000), min_size=5, max_size=5), st.sampled_from(["", LOG, "größe"]), st.integers(0, 3),
)  # fmt: skip
def test_parts_and_headers_are_laid_out_as_e_lays_them_out(number, index, kind, data, log, count):
    """docs/design.md, 10.2: each layout as its E(…), built by the one general encoder."""
    tag, seal, body, fields, digest = data
    part = Part(tag, index, seal, body).encode()
    assert part == encode(tag, index, seal, body)
    assert part_hash(part) == hashlib.sha256(encode(label("part"), part)).digest()
    assert part_context(log, number, index, tag) == encode(label("part-context"), log, number, index, tag)
    commitments = [encode(tag, digest)] * count
    header = LeafHeader(number, kind, fields, ((tag, digest),) * count)
    assert header.encode() == encode(number, kind.value, fields, *commitments)


def test_a_leaf_round_trips_and_its_hash_covers_salt_header_and_hashes_of_parts():
    found, header = leaf()
    again = Leaf.decode(found.encode())
    assert again == found and LeafHeader.decode(again.header) == header
    assert header.values == {"session": "ab"}
    for change in (Leaf(bytes(15) + b"\x01", found.header, found.parts), Leaf(found.salt, found.header + b"x", ())):
        assert change.hash != found.hash
    assert Leaf(found.salt, found.header).hash == found.hash  # a part may go, the leaf stays


def test_every_flipped_byte_of_a_header_changes_the_leaf_or_is_refused():
    found, _ = leaf()
    for at in range(len(found.header)):
        changed = found.header[:at] + bytes([found.header[at] ^ 1]) + found.header[at + 1 :]
        assert Leaf(found.salt, changed).hash != found.hash


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=120))
def test_decoders_of_leaves_raise_proxid_errors_only(data):
    for decode in (Leaf.decode, LeafHeader.decode, Part.decode):
        try:
            found = decode(data)
        except ProxidError:
            continue
        assert found.encode() == data


def released():
    return ReleasedPayload(
        records=(b"s1", b"s2", b"s3"), published=("px2", "px3", "px1"),
        parties=(("acme", (b"r1", b"r2", b"r3"), (b"b1", b"b2", b"b3")),
                 ("umbrella", (b"q1", b"q2", b"q3"), (b"c1", b"c2", b"c3"))),
        owners=("px1", "px2", "px3"),
    )  # fmt: skip


def test_a_group_has_two_parts_for_every_member_and_joins_again():
    payload = released()
    parts = split("main-service", EventType.RELEASED, payload.encode())
    assert [p.person for p in parts] == [NOBODY, "px1", "px2", "px3", "px2", "px3", "px1"]
    assert join(EventType.RELEASED, [p.data for p in parts]) == payload.encode()


def test_an_erased_member_leaves_the_rest_of_a_group_readable():
    parts = split("main-service", EventType.RELEASED, released().encode())
    kept = [None if p.person == "px1" else p.data for p in parts]
    found = ReleasedPayload.decode(join(EventType.RELEASED, kept))
    assert found.records == (b"", b"s2", b"s3") and found.published == ("px2", "px3", "")
    assert found.owners == ("", "px2", "px3")
    assert found.parties[0] == ("acme", (b"r1", b"r2", b""), (b"", b"b2", b"b3"))


def test_a_delivery_without_one_pair_keeps_the_others():
    parts = [b"ack", None, b"pair"]
    assert DeliveredPayload.decode(join(EventType.DELIVERED, parts)) == DeliveredPayload(b"ack", (b"", b"pair"))
    with pytest.raises(EncodingError):
        join(EventType.FORWARDED, [b"one", b"two"])
    assert join(EventType.FORWARDED, [None]) == b"" and join(EventType.UNREACHED, []) == b""


@given(st.binary(max_size=80))
def test_a_header_of_a_session_alone_is_the_canonical_one(session: bytes) -> None:
    assert session_header(session) == encode_header(session=session.hex())
