"""A service's evidence log: leaves, tree and signed head in one folder; one process writes, any may read.

    segments/   leaves and payloads          tree/   stored subtrees
    checkpoint  the newest signed head: what it covers is on disk, and never changes
    cosigned/   for each witness the newest head that it cosigned

    damaged     what its operator has admitted to be damaged       version, predecessor: see `generations`

A head is signed only over leaves that are durable, so no crash can make a log show two histories. If the files
hold less than the signed head says, or something else, the log refuses to open, and changes nothing. It looks at the
last segment, the tree and the head; `scrub` looks at older segments meanwhile.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final

from proxid.crypto.ed25519 import SigningKey
from proxid.errors import LogDamagedError, ProxidError
from proxid.evidence.checkpoint import Checkpoint, open_checkpoint
from proxid.evidence.leaf import Leaf
from proxid.evidence.merkle import EMPTY_ROOT, root_of
from proxid.evidence.note import Verifier
from proxid.regular import regular_bytes
from proxid.runtime.evidence_log.admitted import Admitted, Damage, runs
from proxid.runtime.evidence_log.files import lock_folder, usable
from proxid.runtime.evidence_log.followed import FollowedLog, expire_followed
from proxid.runtime.evidence_log.generations import CHECKPOINT, mark_version
from proxid.runtime.evidence_log.segments import SEGMENT_BYTES, SegmentWriter, parts_of, read_leaves, segment_names
from proxid.runtime.evidence_log.tree import TreeReader, TreeWriter
from proxid.runtime.whole import replace_whole

SEGMENTS: Final = "segments"
TREE: Final = "tree"
_HEAD_BACK: Final = (
    "nothing was changed. Put back an older one, from a copy of the evidence folder or from a file in cosigned/"
)
_BACK: Final = "nothing was changed. Put back the newest copy of the evidence folder that is whole"


class LeafLog:
    """The writing end.

    Args:
        folder: the log's. origin: its name in checkpoints. key: the service's signing key.
        least: leaves that must be there, as somebody else counted them. followed: the logs before it.

    Raises:
        LogDamagedError: what is on disk contradicts the signed head, is less than `least`, or of another version.
    """

    def __init__(
        self, folder: Path, origin: str, key: SigningKey, segment_bytes: int = SEGMENT_BYTES, least: int = 0,
        followed: Sequence[FollowedLog] = (),
    ) -> None:  # fmt: skip
        self.folder = folder
        with usable(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = lock_folder(folder)
        self.origin = origin
        self._key = key
        self.followed = tuple(followed)
        self._writing = threading.Lock()
        self.unfinished = False
        """Leaves are on disk that no head covers yet."""
        try:
            with usable(folder):
                mark_version(folder)
                self.admitted = Admitted.read(folder)
                self._open(segment_bytes, least)
        except BaseException:
            os.close(self._lock)
            raise

    def _open(self, segment_bytes: int, least: int) -> None:
        signed = self._signed_head()
        covered = 0 if signed is None else signed.size
        self._segments = SegmentWriter(self.folder / SEGMENTS, segment_bytes, max(covered, least), self.admitted)
        self._tree = TreeWriter(self.folder / TREE, self._segments.size)
        if signed is None and self.size:  # an empty log was signed before its first leaf
            raise LogDamagedError(f"{self.folder / CHECKPOINT}: the log has leaves and no signed head; {_HEAD_BACK}")
        self._verify_tree(signed)
        self._complete_tree()
        self._sign()

    def _signed_head(self) -> Checkpoint | None:
        """The newest signed head: what it covers is never cut off."""
        path = self.folder / CHECKPOINT
        try:
            return open_checkpoint(regular_bytes(path), Verifier(self.origin, self._key.public))[0]
        except FileNotFoundError:
            return None
        except (ProxidError, ValueError):
            raise LogDamagedError(f"{path}: is no head that this service signed; {_HEAD_BACK}") from None

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

    def _verify_tree(self, signed: Checkpoint | None) -> None:
        """The signed head is a beginning of what is on disk; a stored tree that says otherwise is made anew.

        As long as the last segment ends it, the rest is left to `scrub`: an old log starts as fast as a new one.

        Raises:
            LogDamagedError: the leaves are not what was signed; nothing was written.
        """
        size, root = (0, EMPTY_ROOT) if signed is None else (signed.size, signed.root)
        if self._last_segment_ends(self._segments.first, self._tree.size, size, root):
            return
        self._renew_tree(size, root)

    def _renew_tree(self, size: int, root: bytes) -> None:
        if not self._tree.leads_to(size, root):
            self._tree.replace(self._hashes(size, root))
        self._verify_last_segment()

    def _last_segment_ends(self, first: int, end: int, size: int, root: bytes) -> bool:
        """Whether the leaves `first` … `end` are those that the stored tree and a signed head end with."""
        if first > end + 1:
            return False
        leaves = read_leaves(self.folder / SEGMENTS, first, end + 1, self._stored_hash)
        return self._tree.ends_with(first - 1, [leaf.hash for leaf in leaves], size, root)

    def _hashes(self, size: int, root: bytes) -> list[bytes]:
        """The hashes of all leaves, which come to a signed root; of a damaged one what the stored tree says."""
        leaves = list(enumerate(read_leaves(self.folder / SEGMENTS, 1, self.size + 1, self._stored_hash), 1))
        hashes = [leaf.hash for _, leaf in leaves]
        if root_of(hashes[:size]) == root:
            return hashes
        lost = ", ".join(runs([number for number, leaf in leaves if leaf.lost]))
        what = f"leaf {lost} is damaged, and so is the tree" if lost else "holds other leaves than the signed head"
        raise LogDamagedError(f"{self.folder / SEGMENTS}: {what}; {_BACK}")

    def _stored_hash(self, number: int) -> bytes:
        return TreeReader(self.folder / TREE)(0, number - 1)

    def _verify_last_segment(self) -> None:
        first = self._segments.first
        node = TreeReader(self.folder / TREE)
        for at, leaf in enumerate(read_leaves(self.folder / SEGMENTS, first, self._tree.size + 1, self._stored_hash)):
            if leaf.hash != node(0, first + at - 1):
                raise LogDamagedError(
                    f"{self.folder / SEGMENTS}: leaf {first + at} is another than the signed head covers; {_BACK}"
                )

    @property
    def last_segment(self) -> int:
        """Number of the first leaf of the segment that is written to."""
        return self._segments.first

    def look_at_tree(self) -> Iterator[bool]:
        """Whether the stored tree is good, a few subtrees at a time; what comes meanwhile is left to the next look."""
        with self._writing:
            head = self.head
        yield from self._tree.compared(head.size)

    def renew_derived(self, is_good: bool = False) -> None:
        """Make anew what has rotted of tree and head; raises LogDamagedError if the leaves are not what was signed.

        Args:
            is_good: the tree was looked at, and only its end was not.
        """
        with self._writing:
            head, first = self.head, self._segments.first
        is_good = is_good and self._last_segment_ends(first, head.size, head.size, head.root)
        with self._writing:
            if not is_good:
                self._renew_tree(self.size, self.head.root)
            self._sign()

    def begin_batch(self) -> bool:
        """Before leaves are encrypted: whether they come into a new segment, whose payloads must open by themselves."""
        return self._segments.rotate_if_due()

    def append(self, leaves: Sequence[Leaf]) -> None:
        """Append leaves and sign the new head, both durably; raises OSError: none of the leaves, or `unfinished`."""
        with self._writing:
            self._segments.append(leaves)
            self.unfinished = True
            self._tree.append([leaf.hash for leaf in leaves])
            self._sign()
            self.unfinished = False

    def finish(self) -> None:
        """After leaves were written and tree or head were not, for want of room: make them anew. Raises OSError."""
        with self._writing:
            self._tree.close()
            self._tree = TreeWriter(self.folder / TREE, self._segments.size)
            self._complete_tree()
            self._sign()
            self.unfinished = False

    def _sign(self) -> None:
        replace_whole(self.folder / CHECKPOINT, self.head.sign(self._key).encode())

    def said(self, damage: Damage) -> None:
        """Keep that damage which was admitted stands in the log."""
        self.admitted = self.admitted.with_logged(damage)
        self.admitted.write(self.folder)

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
        """Delete the payloads of every segment that ends at or before a number; of followed logs if it is 0 or less."""
        expire_followed(self.followed, until)
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
