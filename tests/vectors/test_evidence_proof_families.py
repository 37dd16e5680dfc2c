"""Inclusion and consistency proofs in the families of the public proof vectors of transparency-dev/merkle.

For each honest proof of a tree: every field moved, scaled, cut, doubled or of another size must be refused. The trees
and honest proofs come from a second implementation (tests/support/naive_merkle.py), the changes are made here, so that
each family holds for every size below and not for a few.
"""

import base64
from collections.abc import Iterator

import pytest

from proxid.errors import TreeProofError
from proxid.evidence import merkle
from tests.support import naive_merkle as naive
from tests.vectors.test_evidence_vectors import ENTRIES

GARBAGE = b"\x9a" * 32
ROOT1 = base64.b64decode("bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=")
"""Root of the tree whose one entry is empty, as the public vectors print it."""
WRONG_SIZES = (b"", b"\x00", bytes(31), bytes(33), bytes(64))
SIZES = (1, 2, 3, 5, 7, 8)


def changed_lists(proof: list[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """A proof with an element more, less, moved or changed in a bit, or of a wrong size."""
    yield "trailing garbage", [*proof, GARBAGE]
    yield "preceding garbage", [GARBAGE, *proof]
    yield "trailing empty", [*proof, b""]
    for at, hashed in enumerate(proof):
        yield f"without {at}", proof[:at] + proof[at + 1 :]
        yield f"doubled {at}", [*proof[:at], hashed, *proof[at:]]
        for bit in (0, 3, 255):
            flipped = bytearray(hashed)
            flipped[bit // 8] ^= 1 << bit % 8
            yield f"bit {bit} of {at}", [*proof[:at], bytes(flipped), *proof[at + 1 :]]
        for wrong in WRONG_SIZES:
            yield f"{len(wrong)} bytes at {at}", [*proof[:at], wrong, *proof[at + 1 :]]
    if proof:
        yield "none", []


def changed_inclusions() -> Iterator[tuple[str, tuple[bytes, int, int, list[bytes], bytes]]]:
    for size in SIZES:
        entries = ENTRIES[:size]
        root = naive.mth(entries)
        for index in range(size):
            leaf, proof = merkle.leaf_hash(entries[index]), naive.path(index, entries)
            name = f"{index} of {size}"
            for to in {index - 1, index + 1, index ^ 2, index + size, -1} - {index}:
                yield f"{name}: index {to}", (leaf, to, size, proof, root)
            for to in {2 * size, size // 2, 0, -1} - {size}:
                # A proof that fits another size too is honest for it only under that tree's root.
                if len(naive.path(index, [b""] * to)) != len(proof) if index < to else True:
                    yield f"{name}: size {to}", (leaf, index, to, proof, root)
            for wrong in (GARBAGE, merkle.EMPTY_ROOT, root, *WRONG_SIZES):
                if wrong != leaf:
                    yield f"{name}: leaf of {len(wrong)} bytes", (wrong, index, size, proof, root)
            for wrong in (GARBAGE, merkle.EMPTY_ROOT, *WRONG_SIZES):
                yield f"{name}: root of {len(wrong)} bytes", (leaf, index, size, proof, wrong)
            for wrong in WRONG_SIZES:
                yield f"{name}: leaf and root of {len(wrong)} bytes", (wrong, index, size, proof, wrong)
            for what, other in changed_lists(proof):
                yield f"{name}: {what}", (leaf, index, size, other, root)


def changed_consistencies() -> Iterator[tuple[str, tuple[int, bytes, int, bytes, list[bytes]]]]:
    for new in SIZES:
        for old in range(new + 1):
            first, second = naive.mth(ENTRIES[:old]), naive.mth(ENTRIES[:new])
            proof = naive.proof(old, ENTRIES[:new]) if old else []
            name = f"{old} to {new}"
            yield f"{name}: sizes swapped", (new + 1, second, new, first, proof)
            for wrong in (GARBAGE, *WRONG_SIZES):
                yield f"{name}: old root of {len(wrong)} bytes", (old, wrong, new, second, proof)
                if old or len(wrong) != merkle.HASH_SIZE:
                    yield f"{name}: new root of {len(wrong)} bytes", (old, first, new, wrong, proof)
            for wrong in WRONG_SIZES:
                yield f"{name}: both roots of {len(wrong)} bytes", (old, wrong, new, wrong, proof)
            if 0 < old < new:
                yield f"{name}: roots swapped", (old, second, new, first, proof)
            for what, other in changed_lists(proof):
                yield f"{name}: {what}", (old, first, new, second, other)
    for one, other in ((GARBAGE, GARBAGE), (ROOT1, ROOT1), (merkle.EMPTY_ROOT, ROOT1), (ROOT1, merkle.EMPTY_ROOT)):
        yield "two empty trees, another root", (0, one, 0, other, [])


INCLUSIONS, CONSISTENCIES = list(changed_inclusions()), list(changed_consistencies())


def test_there_are_as_many_as_there_should_be() -> None:
    assert naive.mth([b""]) == ROOT1
    assert len(INCLUSIONS) > 500 and len(CONSISTENCIES) > 500


def test_every_changed_inclusion_proof_is_refused() -> None:
    taken = [name for name, case in INCLUSIONS if accepts(merkle.verify_inclusion, case)]
    assert taken == []


def test_every_changed_consistency_proof_is_refused() -> None:
    taken = [name for name, case in CONSISTENCIES if accepts(merkle.verify_consistency, case)]
    assert taken == []


def test_the_empty_tree_has_one_root() -> None:
    merkle.verify_consistency(0, merkle.EMPTY_ROOT, 0, merkle.EMPTY_ROOT, [])
    with pytest.raises(TreeProofError):
        merkle.verify_consistency(0, merkle.EMPTY_ROOT, 0, ROOT1, [])
    with pytest.raises(TreeProofError):
        merkle.verify_inclusion(merkle.EMPTY_ROOT, 0, 0, [], merkle.EMPTY_ROOT)


def accepts(verify, case) -> bool:
    try:
        verify(*case)
    except TreeProofError:
        return False
    return True
