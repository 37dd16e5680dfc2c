"""Checkpoints, cosignatures and proof bundles: round trips, flipped bytes, wrong keys."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.crypto.ed25519 import SigningKey
from proxid.errors import NoteInvalidError, ProxidError, TreeProofError
from proxid.evidence import merkle
from proxid.evidence.checkpoint import (
    Checkpoint,
    cosign,
    open_checkpoint,
    origin,
    verify_cosignature,
    with_cosignature,
    witness,
)
from proxid.evidence.note import Note, Verifier
from proxid.evidence.proof import ProofBundle
from tests.support import naive_merkle as naive

LOG = SigningKey(bytes([1] * 32))
WITNESS = SigningKey(bytes([2] * 32))
NAME = origin("main-service", "gateway")
LOG_VERIFIER = Verifier(NAME, LOG.public)
WITNESS_VERIFIER = witness("witness", WITNESS.public)
ENTRIES = [b"entry %d" % i for i in range(11)]


def signed(size=11):
    checkpoint = Checkpoint(NAME, size, naive.mth(ENTRIES[:size]))
    note = checkpoint.sign(LOG)
    return checkpoint, with_cosignature(note, cosign(note, "witness", WITNESS, 1_700_000_000))


def test_a_checkpoint_round_trips_and_verifies():
    checkpoint, note = signed()
    again, opened = open_checkpoint(note.encode(), LOG_VERIFIER)
    assert (again, opened) == (checkpoint, note)
    assert verify_cosignature(opened, WITNESS_VERIFIER) == 1_700_000_000


def test_a_newer_cosignature_takes_the_place_of_the_older():
    _, note = signed()
    newer = with_cosignature(note, cosign(note, "witness", WITNESS, 1_700_000_001))
    assert len(newer.signatures) == 2
    assert verify_cosignature(newer, WITNESS_VERIFIER) == 1_700_000_001


@pytest.mark.parametrize("at", range(len(signed()[1].encode())))
def test_every_flipped_byte_of_a_cosigned_checkpoint_is_refused(at):
    data = signed()[1].encode()
    with pytest.raises(NoteInvalidError):
        _, note = open_checkpoint(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], LOG_VERIFIER)
        verify_cosignature(note, WITNESS_VERIFIER)


def test_keys_are_not_mistaken_for_one_another():
    _, note = signed()
    other = SigningKey(bytes([3] * 32))
    for verifier in (Verifier(NAME, other.public), Verifier("another", LOG.public), WITNESS_VERIFIER):
        with pytest.raises(NoteInvalidError):
            note.verify(verifier)
    for verifier in (witness("witness", other.public), witness("another", WITNESS.public), LOG_VERIFIER):
        with pytest.raises(NoteInvalidError):
            verify_cosignature(note, verifier)
    with pytest.raises(NoteInvalidError):
        open_checkpoint(note.encode(), Verifier(origin("main-service", "main-service"), LOG.public))


@pytest.mark.parametrize("text", [
    "", "proxid/x/gateway\n", "proxid/x/gateway\n01\n{root}\n", "proxid/x/gateway\n-1\n{root}\n",
    "proxid/x/gateway\n1\n{root}\nmore\n", "proxid/x/gateway\n1\nAAAA\n", "\n1\n{root}\n", "a b\n1\n{root}\n",
    "proxid/x/gateway\n\u0661\n{root}\n",
])  # fmt: skip
def test_malformed_checkpoints_are_refused(text):
    with pytest.raises(NoteInvalidError):
        Checkpoint.parse(text.replace("{root}", "A" * 43 + "="))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_whatever_parses_re_encodes(data):
    for parse in (Note.decode, ProofBundle.decode):
        try:
            found = parse(data)
        except ProxidError:
            continue
        assert found.encode() == data


def bundle(index=4, extra=b"salt and header"):
    return ProofBundle(index, tuple(naive.path(index, ENTRIES)), signed()[1], extra)


@pytest.mark.parametrize("extra", [b"", b"salt and header"])
def test_a_bundle_verifies_offline(extra):
    data = bundle(extra=extra).encode()
    found = ProofBundle.decode(data)
    assert found.encode() == data and found.extra == extra
    checkpoint = found.verify(merkle.leaf_hash(ENTRIES[4]), LOG_VERIFIER, [WITNESS_VERIFIER])
    assert checkpoint.size == 11


def test_a_proof_replayed_for_another_leaf_is_refused():
    found = bundle()
    for i, entry in enumerate(ENTRIES):
        if i != 4:
            with pytest.raises(TreeProofError):
                found.verify(merkle.leaf_hash(entry), LOG_VERIFIER)
    with pytest.raises(NoteInvalidError):
        found.verify(merkle.leaf_hash(ENTRIES[4]), Verifier(NAME, WITNESS.public))


def test_every_flipped_byte_of_a_bundle_is_refused_or_is_in_extra():
    data, leaf = bundle().encode(), merkle.leaf_hash(ENTRIES[4])
    for at in range(len(data)):
        try:
            found = ProofBundle.decode(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            found.verify(leaf, LOG_VERIFIER, [WITNESS_VERIFIER])
        except ProxidError:
            continue
        assert found.extra != b"salt and header"
