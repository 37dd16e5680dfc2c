"""Merkle trees of RFC 6962 §2.1 and their proofs (verification after RFC 9162 §2.1.3.2 and §2.1.4.2).

    leaf  SHA256(0x00 ‖ entry)      node  SHA256(0x01 ‖ left ‖ right)      empty tree  SHA256("")

`Frontier` holds the roots of the complete subtrees that a tree of n leaves splits into: appending costs O(log n)
and O(log n) memory. Proofs are computed from a source of stored nodes, O(log n) hashes each.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from proxid.encoding import decode, decode_int, encode
from proxid.errors import EncodingError, TreeProofError

HASH_SIZE: Final = 32
LEAF_PREFIX: Final = b"\x00"
NODE_PREFIX: Final = b"\x01"
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()

NodeSource = Callable[[int, int], bytes]
"""The root of the complete subtree over leaves [index·2^level, (index+1)·2^level)."""


def leaf_hash(entry: bytes) -> bytes:
    """Hash of one entry, 32 bytes."""
    return hashlib.sha256(LEAF_PREFIX + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of an inner node, 32 bytes."""
    return hashlib.sha256(NODE_PREFIX + left + right).digest()


def subtrees(first: int, end: int) -> list[tuple[int, int]]:
    """The complete subtrees (level, index) that leaves [first, end) split into, left to right."""
    parts = []
    while first < end:
        level = (end - first).bit_length() - 1
        if first:
            level = min(level, (first & -first).bit_length() - 1)
        parts.append((level, first >> level))
        first += 1 << level
    return parts


def fold(roots: Sequence[bytes]) -> bytes:
    """The hash of a range from the roots of its subtrees, of which the last is the smallest; EMPTY_ROOT of none."""
    if not roots:
        return EMPTY_ROOT
    result = roots[-1]
    for left in reversed(roots[:-1]):
        result = node_hash(left, result)
    return result


class Frontier:
    """A growing tree, of which only the right edge is kept.

    Args:
        size: leaves so far. roots: roots of its complete subtrees, largest first.
    """

    __slots__ = ("_roots", "size")

    def __init__(self, size: int = 0, roots: Iterable[bytes] = ()) -> None:
        self.size = size
        self._roots = list(roots)
        if len(self._roots) != size.bit_count() or any(len(r) != HASH_SIZE for r in self._roots):
            raise EncodingError("a tree's right edge does not fit its size")

    def append(self, leaf: bytes) -> list[tuple[int, bytes]]:
        """Append a leaf hash; the complete subtrees it finished as (level, root), from level 0 up."""
        made = [(0, leaf)]
        size = self.size
        while size & 1:
            leaf = node_hash(self._roots.pop(), leaf)
            made.append((len(made), leaf))
            size >>= 1
        self._roots.append(leaf)
        self.size += 1
        return made

    @property
    def root(self) -> bytes:
        """Root of the tree, 32 bytes."""
        return fold(self._roots)

    def copy(self) -> "Frontier":
        """An independent copy."""
        return Frontier(self.size, self._roots)

    def encode(self) -> bytes:
        """Canonical form, for storing."""
        return encode(self.size, *self._roots)

    @classmethod
    def decode(cls, data: bytes) -> "Frontier":
        """The frontier of an encoding; raises EncodingError."""
        items = decode(data)
        if not items:
            raise EncodingError("a tree's right edge has no size")
        return cls(decode_int(items[0]), items[1:])


def root_of(leaves: Iterable[bytes]) -> bytes:
    """Root of the tree of some leaf hashes, 32 bytes."""
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf)
    return frontier.root


def range_hash(node: NodeSource, first: int, end: int) -> bytes:
    """MTH of leaves [first, end), where `first` is where a subtree of RFC 6962 begins."""
    return fold([node(level, index) for level, index in subtrees(first, end)])


def inclusion_proof(node: NodeSource, index: int, size: int) -> list[bytes]:
    """PATH(index, D[size]) of RFC 6962 §2.1.1; raises TreeProofError outside the tree."""
    if not 0 <= index < size:
        raise TreeProofError("leaf is outside the tree")
    proof: list[bytes] = []
    first, end = 0, size
    while end - first > 1:
        middle = first + _split(end - first)
        if index < middle:
            proof.append(range_hash(node, middle, end))
            end = middle
        else:
            proof.append(range_hash(node, first, middle))
            first = middle
    return proof[::-1]


def consistency_proof(node: NodeSource, old: int, size: int) -> list[bytes]:
    """PROOF(old, D[size]) of RFC 6962 §2.1.2; empty for equal sizes; raises TreeProofError unless 0 < old ≤ size."""
    if not 0 < old <= size:
        raise TreeProofError("older tree is not part of the newer one")
    proof: list[bytes] = []
    first, end = 0, size
    while old < end:
        middle = first + _split(end - first)
        if old <= middle:
            proof.append(range_hash(node, middle, end))
            end = middle
        else:
            proof.append(range_hash(node, first, middle))
            first = middle
    if first:
        proof.append(range_hash(node, first, end))
    return proof[::-1]


def _split(count: int) -> int:
    """The largest power of two below `count`."""
    return 1 << ((count - 1).bit_length() - 1)


def _are_hashes(*values: bytes) -> bool:
    """Whether all are as long as a hash: shorter or longer ones would be hashed on like any other."""
    return all(len(value) == HASH_SIZE for value in values)


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """That `leaf` is entry `index` (from 0) of the tree of this size and root (RFC 9162 §2.1.3.2).

    Raises:
        TreeProofError: it is not shown.
    """
    if not 0 <= index < size or not _are_hashes(leaf, root, *proof):
        raise TreeProofError("inclusion proof is malformed")
    at, last, result = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise TreeProofError("inclusion proof is too long")
        if at & 1 or at == last:
            result = node_hash(sibling, result)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            result = node_hash(result, sibling)
        at, last = at >> 1, last >> 1
    if last != 0 or result != root:
        raise TreeProofError("inclusion proof does not lead to the root")


def verify_consistency(old: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]) -> None:
    """That the tree of `old` leaves is the beginning of the one of `size` (RFC 9162 §2.1.4.2).

    An empty tree is the beginning of every tree.

    Raises:
        TreeProofError: it is not shown.
    """
    if not 0 <= old <= size or not _are_hashes(old_root, root, *proof):
        raise TreeProofError("consistency proof is malformed")
    # No entries have one root, whatever the other side says its own is.
    if (old == 0 and old_root != EMPTY_ROOT) or (size == 0 and root != EMPTY_ROOT):
        raise TreeProofError("an empty tree has another root")
    if old in {0, size}:
        if proof or (old == size and old_root != root):
            raise TreeProofError("trees of one size differ")
        return
    path = list(proof)
    if old & (old - 1) == 0:
        path.insert(0, old_root)
    if not path:
        raise TreeProofError("consistency proof is too short")
    _walk(path, old, size, old_root, root)


def _walk(path: list[bytes], old: int, size: int, old_root: bytes, root: bytes) -> None:
    at, last = old - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    before = after = path[0]
    for sibling in path[1:]:
        if last == 0:
            raise TreeProofError("consistency proof is too long")
        if at & 1 or at == last:
            before, after = node_hash(sibling, before), node_hash(sibling, after)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            after = node_hash(after, sibling)
        at, last = at >> 1, last >> 1
    if last != 0 or before != old_root or after != root:
        raise TreeProofError("consistency proof does not lead to both roots")
