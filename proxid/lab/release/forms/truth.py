"""A release in the form `split` as attacks and metrics take it: entries, and each one's round instead of a group."""

from dataclasses import replace

import numpy as np

from proxid.lab.logs import CategoryTree, LogBatch
from proxid.lab.logs.strings import StringTable
from proxid.lab.mechanism import Mechanism
from proxid.lab.release.forms.rounds import Entries
from proxid.lab.released_log import Release, make_release


def entries_log(batch: LogBatch, entries: Entries, no_text: int) -> LogBatch:
    """The people feed as a batch: user, node and bucket; the group is the round, which is not published."""
    feed = batch.take(entries.row)
    none = np.full(len(entries), -1, np.int32)
    return replace(
        feed,
        query=np.full(len(entries), no_text, np.int32),
        category=entries.node,
        time=entries.bucket,
        rank=none,
        url=none,
        row=entries.row,
        group=entries.round.astype(np.int32),
    )


def as_release(
    batch: LogBatch, entries: Entries, tree: CategoryTree, texts: StringTable, mechanism: Mechanism
) -> Release:  # fmt: skip
    """A release in memory with its truth."""
    no_text = texts.code("")
    feed = entries_log(batch, entries, no_text)
    return make_release(
        batch, feed, tree, replace(mechanism, mode="split"), no_text=no_text, origin=entries.row, texts=texts
    )  # fmt: skip
