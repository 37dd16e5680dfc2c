"""The category tree of a log: every path and every prefix of one is a node (002 §4.2.1).

Node 0 is the root (path "", depth 0); a parent's code is smaller than its children's. The node's code is the category
code of a `LogBatch`; -1 there means that a record has no category.
"""

from collections.abc import Iterable

import numpy as np

from proxid.logs.jit import Codes
from proxid.logs.strings import StringTable

ROOT = 0


class CategoryTree:
    """Paths with `/`, their parents and depths; grows as a log is read."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self.paths = StringTable([""])
        self._parent: list[int] = [-1]
        self._depth: list[int] = [0]
        for path in paths:
            self.add(path)

    def __len__(self) -> int:
        return len(self._parent)

    def add(self, path: str) -> int:
        """The node of a path, added with its ancestors when new; empty parts are left out."""
        node, prefix = ROOT, ""
        for part in path.split("/"):
            if name := part.strip():
                prefix = f"{prefix}/{name}" if prefix else name
                node = self._child(node, prefix)
        return node

    def _child(self, parent: int, path: str) -> int:
        node = self.paths.code(path)
        if node == len(self._parent):
            self._parent.append(parent)
            self._depth.append(self._depth[parent] + 1)
        return node

    @property
    def parent(self) -> Codes:
        """Parent of each node; -1 for the root."""
        return np.array(self._parent, np.int32)

    @property
    def depth(self) -> Codes:
        """Depth of each node; 0 for the root."""
        return np.array(self._depth, np.int32)

    def ancestors(self, level: int) -> Codes:
        """The ancestor of each node at a level, the node itself when it is no deeper (002 §4.2.5, line 4)."""
        parent, depth = self.parent, self.depth
        at = np.arange(len(parent), dtype=np.int32)
        while (deep := depth[at] > level).any():
            at[deep] = parent[at[deep]]
        return at

    def ancestor(self, node: int, level: int) -> int:
        """The ancestor of one node at a level."""
        while self._depth[node] > level:
            node = self._parent[node]
        return node
