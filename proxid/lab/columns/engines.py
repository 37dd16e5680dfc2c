"""The streaming mechanisms on columns: what files go through (DESIGN 8, 13).

`mix_engine` obeys the rules of `pool.Pool` (a test holds the two to the same groups), `thesis_engine` and
`thesis3_engine` those of `thesis.Thesis` and `thesis3.Thesis3`. Memory follows what waits and, with the ladder, the
distinct texts; the texts themselves are kept for waiting records alone (`forget_texts`).
"""

import numpy as np

from proxid.anonymise.mix.settings import Settings
from proxid.errors import ConfigError
from proxid.lab.columns.engine import ColumnEngine
from proxid.lab.columns.mix_engine import MixEngine
from proxid.lab.columns.released import Released
from proxid.lab.columns.thesis_engine import ThesisEngine
from proxid.lab.logs.batch import Dictionaries, LogBatch
from proxid.lab.logs.jit import Longs
from proxid.lab.logs.strings import StringTable

__all__ = [
    "ColumnEngine",
    "MixEngine",
    "ThesisEngine",
    "anonymise",
    "mix_engine",
    "shown_log",
    "thesis3_engine",
    "thesis_engine",
]


def mix_engine(
    dictionaries: Dictionaries,
    settings: Settings,
    *,
    ladder: bool = True,
    clicks: bool = False,
    epoch_s: float | None = None,
    seed: int | None = None,
) -> MixEngine:
    """Mode `mix` (DESIGN 8.4-8.7): one audience, everybody seasoned; without an epoch the log is one.

    Without the ladder texts are shown whole and one person may repeat a text: what 8.4.2 then loses is the caller's
    to say. With `clicks`, URL and rank pass the ladder too; else they are dropped. A seed is for experiments.
    """
    if epoch_s is not None and not epoch_s > 0:
        raise ConfigError("epoch must be positive")
    return MixEngine(dictionaries, settings, ladder=ladder, clicks=clicks, epoch_s=epoch_s, seed=seed)


def thesis_engine(dictionaries: Dictionaries, k: int, level: int, *, seed: int | None = None) -> ThesisEngine:
    """Algorithm 4 (002 §4.2.5). Raises ConfigError for k < 1 or a negative level."""
    if k < 1 or level < 0:
        raise ConfigError("k must be at least 1 and level at least 0")
    return ThesisEngine(dictionaries, k, level, None, seed)


def thesis3_engine(
    dictionaries: Dictionaries, k: int, level: int, *, delta: float = 1.2, seed: int | None = None
) -> ThesisEngine:
    """Algorithm 2 (002 §3.3.4.2). Raises ConfigError for k < 1, a negative level or δ ≤ 1."""
    if k < 1 or level < 0 or not delta > 1:
        raise ConfigError("k must be at least 1, level at least 0 and delta above 1")
    return ThesisEngine(dictionaries, k, level, delta, seed)


def anonymise(batch: LogBatch, engine: ColumnEngine) -> tuple[LogBatch, Longs]:
    """Run a whole log through an engine: the released log and, for each record, the row whose arrival released it.

    In the released log `row` is the row of the original record (secret) and `query` the code of what is shown, which
    is added to the dictionaries when it is a part of a text ("" where no text is shown).
    """
    released = Released.concatenate([engine.feed(batch), engine.finish()])
    return shown_log(released, engine.dictionaries), released.at


def shown_log(released: Released, dictionaries: Dictionaries) -> LogBatch:
    """Released columns as a log: parts of texts become texts of their own in the dictionaries."""
    query = released.query.copy()
    cut = np.flatnonzero((query < 0) | (released.size >= 0))
    texts = dictionaries.query
    places = zip(query[cut].tolist(), released.start[cut].tolist(), released.size[cut].tolist(), strict=True)
    query[cut] = texts.encode([_part(texts, *place) for place in places])
    r = released
    return LogBatch(r.user, query, r.category, r.time, r.rank, r.url, r.row, r.group)


def _part(texts: StringTable, code: int, start: int, size: int) -> str:
    return texts[code].encode()[start : start + size].decode() if code >= 0 else ""
