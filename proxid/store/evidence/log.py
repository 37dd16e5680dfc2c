"""A service's evidence log: leaves, tree and signed head in one folder; one process writes, any may read.

    segments/   leaves and payloads          tree/   stored subtrees
    checkpoint  the newest signed head: what it covers is on disk, and never changes
    cosigned/   for each witness the newest head that it cosigned

A head is signed only over leaves that are durable, so no crash can make a log show two histories. If the files
hold less than the signed head says, or something else, the log refuses to open.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final

from proxid.crypto.ed25519 import SigningKey
from proxid.errors import LogDamagedError
from proxid.evidence.checkpoint import Checkpoint, open_checkpoint
from proxid.evidence.leaf import Leaf
from proxid.evidence.merkle import range_hash
from proxid.evidence.note import Verifier
from proxid.store.evidence.files import lock_folder, replace_file
from proxid.store.evidence.segments import SEGMENT_BYTES, SegmentWriter, parts_of, read_leaves, segment_names
from proxid.store.evidence.tree import TreeReader, TreeWriter

SEGMENTS: Final = "segments"
TREE: Final = "tree"
CHECKPOINT: Final = "checkpoint"
COSIGNED: Final = "cosigned"


class LeafLog:
    """The writing end.

    Args:
        folder: the log's. origin: its name in checkpoints. key: the service's signing key.
        least: leaves that must be there, as somebody else counted them.

    Raises:
        LogDamagedError: what is on disk contradicts the signed head, or is less than `least`.
    """

    def __init__(
        self, folder: Path, origin: str, key: SigningKey, segment_bytes: int = SEGMENT_BYTES, least: int = 0
    ) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self._lock = lock_folder(folder)
        self.origin = origin
        self._key = key
        try:
            self._open(segment_bytes, least)
        except BaseException:
            os.close(self._lock)
            raise

    def _open(self, segment_bytes: int, least: int) -> None:
        self._segments = SegmentWriter(self.folder / SEGMENTS, segment_bytes)
        self._tree = TreeWriter(self.folder / TREE, self._segments.size)
        if self.size < least:
            raise LogDamagedError("the log holds fewer leaves than the store says were logged")
        self._complete_tree()
        self._verify_head()
        self._sign()

    @property
    def size(self) -> int:
        """Number of leaves, all durable."""
        return self._segments.size

    @property
    def head(self) -> Checkpoint:
        """The head over all leaves."""
        return Checkpoint(self.origin, self._tree.size, self._tree.root)

    def _complete_tree(self) -> None:
        for leaf in read_leaves(self.folder / SEGMENTS, self._tree.size + 1, self.size + 1):
            self._tree.append([leaf.hash])

    def _verify_head(self) -> None:
        """The signed head is a beginning of what is on disk; a stored tree that says otherwise is made anew once."""
        path = self.folder / CHECKPOINT
        if not path.exists():
            if self.size:  # an empty log was signed before its first leaf
                raise LogDamagedError("the log has leaves and no signed head")
            return
        signed, _ = open_checkpoint(path.read_bytes(), Verifier(self.origin, self._key.public))
        if signed.size > self.size:
            raise LogDamagedError("the log holds fewer leaves than its signed head")
        if self._tree.is_sound() and signed.root == range_hash(TreeReader(self.folder / TREE), 0, signed.size):
            return
        self._tree.clear()
        self._complete_tree()
        if signed.root != range_hash(TreeReader(self.folder / TREE), 0, signed.size):
            raise LogDamagedError("the log holds other leaves than its signed head")

    def begin_batch(self) -> bool:
        """Before leaves are encrypted: whether they come into a new segment, whose payloads must open by themselves."""
        return self._segments.rotate_if_due()

    def append(self, leaves: Sequence[Leaf]) -> None:
        """Append leaves and sign the new head, both durably."""
        self._segments.append(leaves)
        self._tree.append([leaf.hash for leaf in leaves])
        self._sign()

    def _sign(self) -> None:
        replace_file(self.folder / CHECKPOINT, self.head.sign(self._key).encode())

    def older_than(self, expired: float, rotate: float) -> int:
        """Number of the last leaf whose payload was written before a time (Unix seconds), in whole segments.

        Args:
            rotate: a segment that was begun before this time is ended with the next batch, so that it can expire.
        """
        folder = self.folder / SEGMENTS
        names = segment_names(folder)
        self._segments.rotate_begun_before(rotate)
        until = 0
        for name, following in pairwise(names):
            parts = parts_of(folder, name)
            if parts.exists() and parts.stat().st_mtime >= expired:
                break
            until = following - 1
        return until

    def expire(self, until: int) -> None:
        """Delete the payloads of every segment that ends at or before a number."""
        folder = self.folder / SEGMENTS
        for name, following in pairwise(segment_names(folder)):
            if following - 1 <= until:
                parts_of(folder, name).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the files."""
        with suppress(OSError):
            self._segments.close()
        with suppress(OSError):
            self._tree.close()
        with suppress(OSError):
            os.close(self._lock)
