"""The profiler of logs in columns (002 §3.3.4.3, DESIGN 8.10): how often each user appears in each category."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from proxid.lab.logs import CategoryTree, LogBatch
from proxid.profiles import Counts, count, percentages


@dataclass(slots=True)
class Profiler:
    """Counts by user and category at a level of the tree, updated record by record or batch by batch."""

    counts: Counts = field(default_factory=dict)

    def add(self, user: str, category: str, records: int = 1) -> None:
        """Count records of a user in a category."""
        count(self.counts, user, category, records)

    def add_batch(self, batch: LogBatch, users: Sequence[str], names: Sequence[str]) -> None:
        """Count a batch; `users[code]` is a user, `names[node]` the category a node counts for ("": none)."""
        keys, count = np.unique(
            (batch.user.astype(np.int64) << 32) | (batch.category.astype(np.int64) + 1), return_counts=True
        )
        for key, records in zip(keys.tolist(), count.tolist(), strict=True):
            node = (key & 0xFFFFFFFF) - 1
            if node >= 0 and names[node]:
                self.add(users[key >> 32], names[node], records)

    def profile(self, user: str, categories: Iterable[str] = ()) -> dict[str, float]:
        """The percentages of a user; empty for an unknown one."""
        return percentages(self.counts.get(user, {}), categories)


def category_names(tree: CategoryTree, level: int) -> list[str]:
    """For every node the path of its ancestor at a level."""
    return [tree.paths[node] for node in tree.ancestors(level).tolist()]
