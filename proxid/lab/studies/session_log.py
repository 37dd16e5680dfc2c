"""A synthetic log in which people rephrase: what the applications of 003 and 004 need, and `proxid synth` has not.

A session is about a topic (Zipf over topics). A topic has a subject of one or two nouns and 18 phrasings of it; after
one query comes most often the next phrasing, else any of the topic, so that what follows a query can be learnt from
other people's sessions. Clicks go to the topic's sites, the first most often. A quarter of the queries are the person's
own and nobody else's. People's activity is log-normal. All of it is guessed; none of it comes from a person.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from proxid.lab.logs.synth.shape import START
from proxid.lab.logs.synth.words import nouns

Longs = npt.NDArray[np.int64]
PHRASINGS: Final = (
    "{0}", "{0} pictures", "buy {0}", "{0} for sale", "cheap {0}", "{0} reviews", "used {0}", "{0} online", "best {0}",
    "{0} prices", "what is {0}", "{0} near me", "free {0}", "{0} history", "{0} how to", "{0} shop", "new {0}",
    "{0} parts",
)  # fmt: skip
"""Many more than the five that are suggested: else every order of them scores the same."""
SITES: Final = 4
DAYS: Final = 92


@dataclass(frozen=True)
class SessionShape:
    """rows: about so many. topics: subjects people share. own: share of queries that only one person asks."""

    rows: int
    users: int
    seed: int = 1
    topics: int = 3000
    zipf: float = 1.0
    own: float = 0.25
    mean_length: float = 2.6
    follow: float = 0.6
    clicked: float = 0.55
    spread: float = 1.2


def write_session_log(path: Path, shape: SessionShape) -> Path:
    """Write the log as Parquet with AOL's five columns; the same file for the same shape."""
    rng = np.random.default_rng(shape.seed)
    session, place, first = _sessions(rng, shape)
    user = _users(rng, shape)[session]
    topic = rng.choice(shape.topics, session.max() + 1, p=_zipf(shape.topics, shape.zipf))[session]
    phrasing = _phrasings(rng, shape, first)
    texts = np.array([form.format(subject) for subject in subjects(shape.topics) for form in PHRASINGS])
    query = texts[topic * len(PHRASINGS) + phrasing].astype(object)
    own = rng.random(len(query)) < shape.own
    words = np.array(nouns())
    query[own] = [f"{words[w]} {words[v]} {n}" for n, (w, v) in enumerate(rng.integers(0, len(words), (own.sum(), 2)))]
    start = START + rng.random(session.max() + 1) * 86_400 * DAYS
    time = start[session] + 60 * place + rng.integers(0, 50, len(session))
    site = np.minimum(rng.geometric(0.6, len(topic)) - 1, SITES - 1)
    click = (rng.random(len(topic)) < shape.clicked) & ~own
    pq.write_table(_table(user, query, time, topic * SITES + site, click), path, compression="zstd")
    return path


def subjects(count: int) -> list[str]:
    """Different subjects: nouns, and pairs of nouns."""
    words = nouns()
    return [words[i] if i % 2 else f"{words[i % len(words)]} {words[(7 * i + 3) % len(words)]}" for i in range(count)]


def _sessions(rng: np.random.Generator, shape: SessionShape) -> tuple[Longs, Longs, npt.NDArray[np.bool_]]:
    """Session, place in it, and whether it is the first query, of every row."""
    length = rng.geometric(1 / shape.mean_length, int(shape.rows / shape.mean_length) + 1)
    session = np.repeat(np.arange(len(length)), length)
    place = np.arange(len(session)) - np.repeat(np.cumsum(length) - length, length)
    return session, place, place == 0


def _users(rng: np.random.Generator, shape: SessionShape) -> Longs:
    """The user of every session."""
    activity = rng.lognormal(0, shape.spread, shape.users)
    users: Longs = rng.choice(shape.users, int(shape.rows / shape.mean_length) + 1, p=activity / activity.sum())
    return users


def _phrasings(rng: np.random.Generator, shape: SessionShape, first: npt.NDArray[np.bool_]) -> Longs:
    """The phrasing of every row: the one after the row before's, or a new one."""
    n = len(PHRASINGS)
    fresh = rng.choice(n, len(first), p=_zipf(n, 1.0))
    new = first | (rng.random(len(first)) >= shape.follow)
    at = np.maximum.accumulate(np.where(new, np.arange(len(first)), 0))
    result: Longs = (fresh[at] + np.arange(len(first)) - at) % n
    return result


def _zipf(n: int, exponent: float) -> npt.NDArray[np.float64]:
    weights = np.power(np.arange(1.0, n + 1), -exponent)
    return np.asarray(weights / weights.sum())


def _table(user: Longs, query: Any, time: Any, site: Longs, click: npt.NDArray[np.bool_]) -> pa.Table:
    order = np.argsort(time, kind="stable")
    urls = np.array([f"http://www.site{number}.example" for number in range(int(site.max()) + 1)], object)[site]
    columns = {
        "user": pa.array([f"{1_000_000 + 3 * u}" for u in user[order].tolist()]),
        "query": pa.array(query[order].tolist(), pa.string()),
        "time": pa.array(np.floor(time[order] * 1e6).astype(np.int64)).cast(pa.timestamp("us")),
        "rank": pa.array(np.ones(len(order), np.int32), mask=~click[order]),
        "url": pa.array(urls[order].tolist(), pa.string(), mask=~click[order]),
    }
    return pa.table(columns)
