"""The Merkle tree's complete subtrees on disk, one file a level: proofs of any size need O(log n) reads.

    LEVEL    roots of the subtrees over 2^LEVEL leaves, 32 bytes each, in order

Everything here is derived from the leaves; after a crash it is cut back and completed.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from proxid.errors import LogDamagedError
from proxid.evidence.merkle import EMPTY_ROOT, HASH_SIZE, Frontier, node_hash, range_hash, subtrees
from proxid.regular import open_regular
from proxid.runtime.evidence_log.files import AppendFile
from proxid.runtime.whole import replace_whole

_PAIRS: Final = 256
"""Subtrees that are computed again at a time: a third of a millisecond."""


class TreeWriter:
    """Appends leaf hashes.

    Args:
        folder: of the levels. size: leaves that the log has; `kept` tells how many of them the files hold.
    """

    def __init__(self, folder: Path, size: int) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._levels: list[AppendFile] = []
        stored = self._level(0).size // HASH_SIZE
        self.kept = min(size, stored)
        self._cut(self.kept)
        node = TreeReader(folder)
        self._frontier = Frontier(self.kept, [node(level, index) for level, index in subtrees(0, self.kept)])

    def _level(self, level: int) -> AppendFile:
        while len(self._levels) <= level:
            self._levels.append(AppendFile(self._folder / str(len(self._levels))))
        return self._levels[level]

    def _cut(self, size: int) -> None:
        """Cut every level back to whole subtrees of `size` leaves, and complete the upper ones from level 0."""
        level, count = 0, size
        while count or (self._folder / str(level)).exists():
            file = self._level(level)
            file.truncate(min(file.size // HASH_SIZE, count) * HASH_SIZE)
            if level and file.size // HASH_SIZE < count:
                self._complete(level, file.size // HASH_SIZE, count)
            level, count = level + 1, count >> 1

    def _complete(self, level: int, first: int, end: int) -> None:
        node = TreeReader(self._folder)
        for index in range(first, end):
            pair = (node(level - 1, 2 * index), node(level - 1, 2 * index + 1))
            self._level(level).append(node_hash(*pair))

    def append(self, hashes: Iterable[bytes]) -> None:
        """Append leaf hashes."""
        made: dict[int, list[bytes]] = {}
        for leaf in hashes:
            for level, root in self._frontier.append(leaf):
                made.setdefault(level, []).append(root)
        for level, roots in sorted(made.items()):
            self._level(level).append(b"".join(roots))

    def leads_to(self, size: int, root: bytes) -> bool:
        """Whether every stored subtree is what those below it come to, and they come to a signed root."""
        return self.size >= size and all(self.compared(self.size)) and self._root(size) == root

    def compared(self, size: int) -> Iterator[bool]:
        """Whether the stored subtrees of so many leaves are what those below them come to, a few at a time.

        Raises:
            OSError: a file cannot be read, which says nothing of what it holds.
        """
        for level in range(size.bit_length() - 1):
            yield from self._pairs_up(level, size >> (level + 1))

    def _pairs_up(self, level: int, count: int) -> Iterator[bool]:
        below, above = (open_regular(self._folder / str(at)) for at in (level, level + 1))
        with below, above:
            for first in range(0, count, _PAIRS):
                some = min(_PAIRS, count - first) * HASH_SIZE
                data = below.read(2 * some)
                made = [node_hash(data[at : at + HASH_SIZE], data[at + HASH_SIZE : at + 2 * HASH_SIZE])
                        for at in range(0, 2 * some, 2 * HASH_SIZE)]  # fmt: skip
                yield above.read(some) == b"".join(made)

    def _root(self, size: int) -> bytes:
        """The root over the first leaves by what is stored; nothing if that is cut off."""
        try:
            return range_hash(TreeReader(self._folder), 0, size) if size else EMPTY_ROOT
        except LogDamagedError:
            return b""

    def ends_with(self, first: int, hashes: Sequence[bytes], size: int, root: bytes) -> bool:
        """Whether leaf hashes end the tree, are stored so, and come to a signed root with the stored edge before them.

        Nothing else of what lies before is looked at: O(log n) subtrees, and those that the hashes complete.

        Args:
            first: index of the first of them. size, root: the signed head.
        """
        covered, node = size - first, TreeReader(self._folder)
        if not 0 <= covered <= len(hashes):
            return False
        try:
            edge = Frontier(first, [node(level, index) for level, index in subtrees(0, first)])
        except LogDamagedError:
            return False
        made = levels_of(hashes[:covered], edge)
        if edge.root != root:
            return False
        return self._ends(made, size) and self._ends(levels_of(hashes[covered:], edge), edge.size)

    def _ends(self, made: Sequence[Sequence[bytes]], size: int) -> bool:
        """Whether the stored subtrees of so many leaves end, on each level, with these."""
        for level, roots in enumerate(made):
            with open_regular(self._folder / str(level)) as file:
                file.seek(((size >> level) - len(roots)) * HASH_SIZE)
                if file.read(len(roots) * HASH_SIZE) != b"".join(roots):
                    return False
        return True

    @property
    def size(self) -> int:
        """Number of leaves."""
        return self._frontier.size

    @property
    def root(self) -> bytes:
        """Root of the whole tree."""
        return self._frontier.root

    def replace(self, hashes: Sequence[bytes]) -> None:
        """Make the tree anew from its leaves: the files contradict the signed head."""
        made = levels_of(hashes)
        for file in self._levels:
            file.close()
        self._levels = []
        for at, roots in enumerate(made):
            replace_whole(self._folder / str(at), b"".join(roots))
        self._frontier = Frontier(len(hashes), [made[level][at] for level, at in subtrees(0, len(hashes))])
        self._cut(len(hashes))

    def close(self) -> None:
        """Close the files; a second time does nothing."""
        while self._levels:
            self._levels.pop().close()


def levels_of(hashes: Iterable[bytes], frontier: Frontier | None = None) -> list[list[bytes]]:
    """Roots of the complete subtrees over leaf hashes, by level: those that are added to a tree, which grows."""
    frontier, levels = frontier or Frontier(), list[list[bytes]]()
    for leaf in hashes:
        for level, root in frontier.append(leaf):
            if level == len(levels):
                levels.append([])
            levels[level].append(root)
    return levels


class TreeReader:
    """Reads subtree roots: a `NodeSource` for proofs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, level: int, index: int) -> bytes:
        """The root of one complete subtree; raises LogDamagedError."""
        try:
            descriptor = os.open(self._folder / str(level), os.O_RDONLY)
            try:
                data = os.pread(descriptor, HASH_SIZE, HASH_SIZE * index)
            finally:
                os.close(descriptor)
        except OSError:
            data = b""
        if len(data) != HASH_SIZE:
            raise LogDamagedError("the stored tree is cut off")
        return data
