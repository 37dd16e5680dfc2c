"""The category tree of a log: every path and every prefix of one is a node (002 §4.2.1).

Node 0 is the root (path "", depth 0); a parent's code is smaller than its children's. The node's code is the category
code of a `LogBatch`; -1 there means that a record has no category.
"""

from collections.abc import Iterable

import numpy as np

from proxid.lab.logs.jit import Codes, Scalar, compiled
from proxid.lab.logs.strings import StringTable

ROOT = 0


class CategoryTree:
    """Paths with `/`, their parents and depths; grows as a log is read."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._node: dict[str, int] = {"": ROOT}
        self._paths: list[str] = [""]
        self._parent: Codes = np.full(64, -1, np.int32)
        self._depth: Codes = np.zeros(64, np.int32)
        self._above: dict[int, Codes] = {}
        self._table = StringTable()
        for path in paths:
            self.add(path)

    def __len__(self) -> int:
        return len(self._paths)

    @property
    def paths(self) -> StringTable:
        """Path of each node."""
        if len(self._table) < len(self._paths):
            self._table.encode(self._paths[len(self._table) :])
        return self._table

    def add(self, path: str) -> int:
        """The node of a path, added with its ancestors when new; empty parts are left out."""
        if (known := self._node.get(path)) is not None:
            return known
        head, _, name = path.rpartition("/")
        if name and name == name.strip() and (above := self._node.get(head)) is not None:
            return self.child(above, name)
        node = ROOT
        for part in path.split("/"):
            if name := part.strip():
                node = self.child(node, name)
        return node

    def child(self, parent: int, name: str) -> int:
        """The child of a node with a name (which holds no `/`), added when new."""
        path = f"{self._paths[parent]}/{name}" if parent else name
        node = self._node.setdefault(path, len(self._paths))
        if node == len(self._paths):
            self._paths.append(path)
            if node == len(self._parent):
                self._parent, self._depth = (np.concatenate([a, a]) for a in (self._parent, self._depth))
            self._parent[node], self._depth[node] = parent, self._depth[parent] + 1
        return node

    def copy_of(self, other: "CategoryTree") -> None:
        """Become a copy of another tree."""
        self._node, self._paths = dict(other._node), list(other._paths)
        self._parent, self._depth, self._above = other._parent.copy(), other._depth.copy(), {}
        self._table = StringTable()

    @property
    def parent(self) -> Codes:
        """Parent of each node; -1 for the root."""
        return self._parent[: len(self)]

    @property
    def depth(self) -> Codes:
        """Depth of each node; 0 for the root."""
        return self._depth[: len(self)]

    def ancestors(self, level: int) -> Codes:
        """The ancestor of each node at a level, the node itself when it is no deeper (002 §4.2.5, line 4)."""
        known = self._above.get(level, np.empty(0, np.int32))
        if len(known) < len(self):
            if len(known) == 0 or known.base is None or len(known.base) < len(self):
                room = np.empty(len(self._parent), np.int32)
                room[: len(known)] = known
            else:
                room = known.base
            _find_ancestors(self._parent, self._depth, level, len(known), len(self), room)
            self._above[level] = known = room[: len(self)]
        return known

    def ancestor(self, node: int, level: int) -> int:
        """The ancestor of one node at a level."""
        while self._depth[node] > level:
            node = int(self._parent[node])
        return node


@compiled
def _find_ancestors(parent: Codes, depth: Codes, level: Scalar, first: Scalar, last: Scalar, above: Codes) -> None:
    for node in range(first, last):
        above[node] = node if depth[node] <= level else above[parent[node]]
