"""Merkle trees and proofs against a second, naive implementation, and against every kind of change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.errors import EncodingError, TreeProofError
from proxid.evidence import merkle
from tests.support import naive_merkle as naive

SIZES = range(1, 34)


def entries(n):
    return [b"entry %d" % i for i in range(n)]


def source(n):
    leaves = entries(n)

    def node(level, index):
        return naive.mth(leaves[index << level : (index + 1) << level])

    return node


@pytest.mark.parametrize("n", SIZES)
def test_every_proof_of_every_size_equals_the_naive_one_and_verifies(n):
    leaves, node = entries(n), source(n)
    root = naive.mth(leaves)
    assert merkle.range_hash(node, 0, n) == root
    for m in range(n):
        proof = merkle.inclusion_proof(node, m, n)
        assert proof == naive.path(m, leaves)
        merkle.verify_inclusion(merkle.leaf_hash(leaves[m]), m, n, proof, root)
    for m in range(1, n + 1):
        proof = merkle.consistency_proof(node, m, n)
        assert proof == naive.proof(m, leaves)
        merkle.verify_consistency(m, naive.mth(leaves[:m]), n, root, proof)


def test_the_empty_tree_is_the_beginning_of_every_tree():
    root = naive.mth(entries(5))
    merkle.verify_consistency(0, merkle.EMPTY_ROOT, 5, root, [])
    with pytest.raises(TreeProofError):
        merkle.verify_consistency(0, root, 5, root, [])
    with pytest.raises(TreeProofError):
        merkle.verify_consistency(5, naive.mth(entries(4)), 5, root, [])


def test_the_frontier_grows_to_the_same_roots_and_names_every_finished_subtree():
    leaves, frontier = entries(40), merkle.Frontier()
    for i, entry in enumerate(leaves):
        made = frontier.append(merkle.leaf_hash(entry))
        assert frontier.root == naive.mth(leaves[: i + 1])
        for level, root in made:
            first = (i >> level) << level
            assert root == naive.mth(leaves[first : first + (1 << level)])
        again = merkle.Frontier.decode(frontier.encode())
        assert (again.size, again.root, again.encode()) == (i + 1, frontier.root, frontier.encode())


def test_a_frontier_that_does_not_fit_its_size_is_refused():
    for size, roots in ((1, []), (0, [bytes(32)]), (1, [bytes(31)])):
        with pytest.raises(EncodingError):
            merkle.Frontier(size, roots)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_changed_inclusion_proof_is_refused(data):
    n = data.draw(st.integers(1, 64))
    m = data.draw(st.integers(0, n - 1))
    leaves = entries(n)
    leaf, root = merkle.leaf_hash(leaves[m]), naive.mth(leaves)
    proof = naive.path(m, leaves)
    kind = data.draw(st.sampled_from(["flip", "drop", "add", "leaf", "root", "index", "order"]))
    index = m
    if kind == "flip" and proof:
        at = data.draw(st.integers(0, len(proof) - 1))
        proof[at] = bytes([proof[at][0] ^ 1]) + proof[at][1:]
    elif kind == "drop" and proof:
        del proof[data.draw(st.integers(0, len(proof) - 1))]
    elif kind == "order" and len(proof) > 1:
        proof.reverse()
    elif kind == "leaf":
        leaf = merkle.leaf_hash(b"another")
    elif kind == "root":
        root = bytes(32)
    elif kind == "index":
        index = (m + data.draw(st.integers(1, n))) if n == 1 else (m + 1 + data.draw(st.integers(0, n - 2))) % n
    else:
        proof.append(bytes(32))
    with pytest.raises(TreeProofError):
        merkle.verify_inclusion(leaf, index, n, proof, root)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_changed_consistency_proof_is_refused(data):
    n = data.draw(st.integers(2, 64))
    m = data.draw(st.integers(1, n - 1))
    leaves = entries(n)
    old, new, proof = naive.mth(leaves[:m]), naive.mth(leaves), naive.proof(m, leaves)
    kind = data.draw(st.sampled_from(["flip", "drop", "add", "old", "new"]))
    if kind == "flip":
        at = data.draw(st.integers(0, len(proof) - 1))
        proof[at] = proof[at][:-1] + bytes([proof[at][-1] ^ 128])
    elif kind == "drop":
        del proof[data.draw(st.integers(0, len(proof) - 1))]
    elif kind == "add":
        proof.append(bytes(32))
    elif kind == "old":
        old = naive.mth([*leaves[: m - 1], b"another"])
    else:
        new = naive.mth([b"another", *leaves[1:]])
    with pytest.raises(TreeProofError):
        merkle.verify_consistency(m, old, n, new, proof)


def test_proofs_outside_the_tree_are_refused():
    node = source(4)
    for index in (-1, 4):
        with pytest.raises(TreeProofError):
            merkle.inclusion_proof(node, index, 4)
    for old in (0, 5):
        with pytest.raises(TreeProofError):
            merkle.consistency_proof(node, old, 4)
