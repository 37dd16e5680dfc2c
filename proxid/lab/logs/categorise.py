"""Category paths to nodes of the tree, and queries without a path to the classifier (DESIGN 6, 15)."""

from collections.abc import Callable

import numpy as np

from proxid.lab.logs.batch import NONE, Dictionaries
from proxid.lab.logs.jit import Codes
from proxid.lab.logs.strings import StringTable

_UNSEEN = -2


class Categoriser:
    """Keeps which node a path string is, and which node the classifier gave to a query text."""

    def __init__(self, dictionaries: Dictionaries, classifier: Callable[[str], str] | None) -> None:
        self.paths = StringTable()
        self._dictionaries, self._classifier = dictionaries, classifier
        self._node_of_path = np.empty(0, np.int32)
        self._node_of_query = np.empty(0, np.int32)
        self._queries = dictionaries.query

    def nodes(self, path: Codes, query: Codes) -> Codes:
        """Node of each record: of its path (a code into `paths`, or -1), else by classifier, else -1."""
        self._learn_paths()
        found = np.append(self._node_of_path, np.int32(NONE))[path]
        if self._classifier is not None and (lacking := found == NONE).any():
            found[lacking] = self._classified(query[lacking])
        return found.astype(np.int32, copy=False)

    def _learn_paths(self) -> None:
        tree, known = self._dictionaries.tree, len(self._node_of_path)
        if known == len(self.paths):
            return
        fresh = [tree.add(path) or NONE for path in self.paths.since(known)]
        self._node_of_path = np.append(self._node_of_path, np.array(fresh, np.int32))

    def _classified(self, query: Codes) -> Codes:
        classify, tree = self._classifier, self._dictionaries.tree
        assert classify is not None
        if self._queries is not self._dictionaries.query:  # the texts were numbered anew
            self._queries, self._node_of_query = self._dictionaries.query, np.empty(0, np.int32)
        more = len(self._queries) - len(self._node_of_query)
        self._node_of_query = np.append(self._node_of_query, np.full(more, _UNSEEN, np.int32))
        for code in np.unique(query[self._node_of_query[query] == _UNSEEN]).tolist():
            self._node_of_query[code] = tree.add(classify(self._queries[code])) or NONE
        return self._node_of_query[query]
