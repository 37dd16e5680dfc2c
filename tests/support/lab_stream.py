"""Small query streams for the tests of the lab: heavy-tailed people with favourites; helpers to release them."""

from random import Random

import numpy as np

from proxid.anonymise.mix.settings import Settings
from proxid.lab.columns.engines import MixEngine, ThesisEngine, anonymise, mix_engine, thesis3_engine, thesis_engine
from proxid.lab.logs import Dictionaries, LogBatch
from proxid.lab.mechanism import Mechanism
from proxid.lab.released_log import Release, make_release

PATHS = [f"{a}/{a}{b}/{a}{b}{c}" for a in "ABC" for b in "xyz" for c in "12"] + ["A", "B", "A/Ax"]


def log(rows: list[tuple[int, int, str]], dictionaries: Dictionaries) -> LogBatch:
    """A log of (user, text, category path) records, a second apart; text codes are one more than given."""
    dictionaries.query.encode(["", *(f"text number {i}" for i in range(max((q for _, q, _ in rows), default=0) + 1))])
    dictionaries.user.encode([f"u{i}" for i in range(max((u for u, _, _ in rows), default=0) + 1)])
    columns = [np.array(column, np.int32) for column in zip(*((u, q + 1) for u, q, _ in rows), strict=True)]
    user, query = columns or [np.empty(0, np.int32)] * 2
    category = np.array([dictionaries.tree.add(path) for _, _, path in rows], np.int32)
    none = np.full(len(rows), -1, np.int32)
    row = np.arange(len(rows), dtype=np.int64)
    return LogBatch(user, query, category, 1.2e9 + row, none, none, row, none)


def stream(rows: int, users: int, seed: int) -> list[tuple[int, int, str]]:
    """Records of people whose activity is log-normal and who mostly keep to two favourite categories of their own."""
    random = Random(seed)
    weights = [random.lognormvariate(0, 1.5) for _ in range(users)]
    favourites = [random.choices(PATHS, k=2) for _ in range(users)]
    people = random.choices(range(users), weights, k=rows)
    records: list[tuple[int, int, str]] = []
    fresh = 60
    for user in people:
        path = random.choice(favourites[user] if random.random() < 0.7 else PATHS)
        if random.random() < 0.5:
            text = random.randrange(60)
        else:
            text, fresh = fresh, fresh + 1
        records.append((user, text, path))
    return records


def released(records: list[tuple[int, int, str]], mechanism: Mechanism, *, seed: int = 1, **mix: object) -> Release:
    """The records through a mechanism, with the truth."""
    dictionaries = Dictionaries()
    batch = log(records, dictionaries)
    engine: MixEngine | ThesisEngine
    if mechanism.mode == "mix":
        settings = Settings(k=mechanism.k, level=mechanism.level, margin=mechanism.margin, **mix)  # type: ignore[arg-type]
        engine = mix_engine(dictionaries, settings, ladder=False, seed=seed)
    elif mechanism.mode == "thesis":
        engine = thesis_engine(dictionaries, mechanism.k, mechanism.level, seed=seed)
    else:
        engine = thesis3_engine(dictionaries, mechanism.k, mechanism.level, delta=mechanism.delta, seed=seed)
    out, at = anonymise(batch, engine)
    no_text = dictionaries.query.find("")
    return make_release(batch, out, dictionaries.tree, mechanism, no_text=no_text, origin=out.row, at=at + 1)
