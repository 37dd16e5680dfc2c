"""Chapter 3's choice of δ: what it does to time and to the k that categories end with (002 §3.4.2.2, Figures 3.4, 3.5).

A category's k grows where its k entries are all of one user. That hardly happens in order of time and often where a
log lies user by user, as AOL's files do; so both orders are measured.
"""

import time
from typing import Any, Final

import numpy as np

from proxid.lab.columns.engines import thesis3_engine
from proxid.lab.logs import Dictionaries, LogBatch

DELTAS: Final = (1.1, 1.2, 1.5, 2.0, 3.0)
ORDERS: Final = ("time", "user")


def growth(batch: LogBatch, dictionaries: Dictionaries, k: int, level: int, seed: int) -> list[dict[str, Any]]:
    """A row an order and δ: CPU microseconds a record, and the mean and largest k of the categories at the end."""
    rows = []
    for order in ORDERS:
        log = batch if order == "time" else batch.take(np.argsort(batch.user, kind="stable"))
        for delta in DELTAS:
            engine = thesis3_engine(dictionaries, k, level, delta=delta, seed=seed)
            started = time.process_time()
            engine.feed(log)
            engine.finish()
            seconds = time.process_time() - started
            used = np.unique(dictionaries.tree.ancestors(level)[log.category])
            limits = engine.limits[used]
            rows.append(
                {
                    "order": order, "delta": delta, "us": 1e6 * seconds / max(len(log), 1),
                    "mean_k": float(limits.mean()), "largest_k": int(limits.max()),
                }
            )  # fmt: skip
    return rows
