"""A synthetic query log whose words mean something: people with interests asking about WordNet concepts.

It stands in for the AOL log, which is real people's data. Assumptions, none of them measured on AOL but the first:
queries a user log-normal around a mean (000: about 100); 1 + Poisson(3) favourite topics a user that take 80 % of the
sessions; sessions of geometric length on one topic; Zipf popularity of the concepts of a topic, and half of the
queries of a session follow up the one before with a related concept; a click on one of ten pages of the concept for
half of the queries; where asked for, queries for fifty sites by name (Zipf), fresh (issued once) and vanity queries.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proxid.lab.logs.batch import NONE, Dictionaries, LogBatch
from proxid.lab.release.semantic.paths import ConceptPaths
from proxid.lab.release.semantic.topics import FOUR, NINETEEN
from proxid.ontology.wordnet import WordNet

Ints = npt.NDArray[np.int64]
FORMS = ("{}", "{}", "{}", "{}", "{}", "{}", "best {}", "new {}", "famous {}", "what is {}", "{} near me", "{}s")
"""How a concept is asked for; two in three by its bare label."""
OTHER_TOPICS = (
    "food.n.02", "musical_instrument.n.01", "dog.n.01", "city.n.01", "motor_vehicle.n.01", "garment.n.01",
    "building.n.01", "tree.n.01",
)  # fmt: skip
"""Interests outside the four domains of 000, for logs that are not only about those."""
SITES, SYLLABLES = 50, ("ba", "do", "fi", "ku", "le", "mo", "ni", "pa")
ALL_TOPICS = NINETEEN + OTHER_TOPICS
START, DAY = 1_141_171_200.0, 86_400.0  # 2006-03-01, the month of AOL's log


@dataclass(frozen=True)
class LogShape:
    """Size and habits of the population. Shares: `unusual` fresh queries, `vanity` own names, `navigation` sites."""

    users: int = 1000
    mean_queries: float = 100.0
    spread: float = 0.8
    topics: tuple[str, ...] = NINETEEN
    unusual: float = 0.0
    vanity: float = 0.0
    navigation: float = 0.0
    categories: int = 1


def make_topical_log(wordnet: WordNet, shape: LogShape, seed: int) -> tuple[LogBatch, Dictionaries]:
    """A log in time order; every record has a category, one in two a click."""
    rng = np.random.default_rng(seed)
    pools = [wordnet.descendants(wordnet.concept(name)).astype(np.int64) for name in shape.topics]
    user = _activity(shape, rng)
    first = np.r_[True, user[1:] != user[:-1]] | (rng.random(len(user)) < 0.25)
    topic = _topics(user[first], shape, rng)[np.cumsum(first) - 1]
    concept = _followed_up(wordnet, _concepts(topic, pools, rng), first, topic, pools, rng)
    dictionaries = Dictionaries()
    query = dictionaries.query.encode(_texts(wordnet, user, concept, shape, rng))
    category = _categories(wordnet, concept, shape.categories, dictionaries)
    time = _times(first, rng)
    url = _clicks(concept, dictionaries, rng)
    names = dictionaries.user.encode([f"u{i:05d}" for i in range(shape.users)])
    order = np.argsort(time, kind="stable")
    rank = np.where(url == NONE, NONE, rng.geometric(0.4, len(user)).clip(1, 10)).astype(np.int32)
    row, group = np.arange(len(user)), np.full(len(user), NONE, np.int32)
    batch = LogBatch(names[user], query, category, time, rank, url, row, group)
    if shape.navigation:
        _go_to_sites(batch, dictionaries, shape.navigation, rng)
    return _renumbered(batch.take(order)), dictionaries


def _go_to_sites(batch: LogBatch, dictionaries: Dictionaries, share: float, rng: np.random.Generator) -> None:
    """Turn a share of the queries into names of sites, which are then clicked."""
    rows = np.flatnonzero(rng.random(len(batch)) < share)
    weight = 1.0 / np.arange(1, SITES + 1)
    site = rng.choice(SITES, len(rows), p=weight / weight.sum())
    names = [f"{first}{second}site" for first in SYLLABLES for second in SYLLABLES][:SITES]
    codes = [
        (
            dictionaries.query.code(name),
            dictionaries.tree.add(f"navigation/{name}"),
            dictionaries.url.code(f"http://{name}.example/"),
        )
        for name in names
    ]
    chosen = np.array(codes, np.int32)[site]
    batch.query[rows], batch.category[rows], batch.url[rows] = chosen.T
    batch.rank[rows] = 1


def _renumbered(batch: LogBatch) -> LogBatch:
    batch.row[:] = np.arange(len(batch))
    return batch


def _activity(shape: LogShape, rng: np.random.Generator) -> Ints:
    """User of every query, at least two a user."""
    raw = rng.lognormal(0, shape.spread, shape.users)
    count = np.maximum(2, np.rint(raw / raw.mean() * shape.mean_queries)).astype(np.int64)
    return np.repeat(np.arange(shape.users), count)


def _topics(user: Ints, shape: LogShape, rng: np.random.Generator) -> Ints:
    """Topic of every session, given its user: a favourite with 80 %, the first favourites more often."""
    number = 1 + rng.poisson(3, shape.users)
    start = np.concatenate([[0], np.cumsum(number)])
    favourite = rng.integers(0, len(shape.topics), start[-1])
    pick = (number[user] * rng.random(len(user)) ** 2).astype(np.int64)
    anywhere = rng.integers(0, len(shape.topics), len(user))
    result: Ints = np.where(rng.random(len(user)) < 0.8, favourite[start[user] + pick], anywhere)
    return result


def _concepts(topic: Ints, pools: Sequence[Ints], rng: np.random.Generator) -> Ints:
    """Concept of every query: Zipf over its topic's concepts in a random order of popularity."""
    concept = np.empty(len(topic), np.int64)
    for number, pool in enumerate(pools):
        weight = 1.0 / np.arange(1, len(pool) + 1)
        rows = np.flatnonzero(topic == number)
        concept[rows] = rng.permutation(pool)[rng.choice(len(pool), len(rows), p=weight / weight.sum())]
    return concept


def _followed_up(
    wordnet: WordNet, concept: Ints, first: npt.NDArray[np.bool_], topic: Ints, pools: Sequence[Ints],
    rng: np.random.Generator,
) -> Ints:  # fmt: skip
    """Replace half of a session's later queries by a concept related to the one before, within the topic."""
    members = [frozenset(pool.tolist()) for pool in pools]
    follows = ~first & (rng.random(len(concept)) < 0.5)
    pick = rng.choice(3, len(concept), p=(0.6, 0.3, 0.1))
    near: dict[tuple[int, int], list[int]] = {}
    result = concept.tolist()
    for i in np.flatnonzero(follows).tolist():
        key = (result[i - 1], int(topic[i]))
        if key not in near:
            near[key] = [c for c in _related(wordnet, key[0]) if c in members[key[1]]][:3]
        if near[key]:
            result[i] = near[key][min(int(pick[i]), len(near[key]) - 1)]
    return np.array(result, np.int64)


def _texts(wordnet: WordNet, user: Ints, concept: Ints, shape: LogShape, rng: np.random.Generator) -> list[str]:
    form = rng.integers(0, len(FORMS), len(user))
    kind = rng.random(len(user))
    texts = []
    for i, (u, c, f) in enumerate(zip(user.tolist(), concept.tolist(), form.tolist(), strict=True)):
        if kind[i] < shape.vanity:
            texts.append(f"person number {u} address")
        elif kind[i] < shape.vanity + shape.unusual:
            texts.append(f"{i} {wordnet.label(c)}")
        else:
            texts.append(FORMS[f].format(wordnet.label(c)))
    return texts


def _categories(wordnet: WordNet, concept: Ints, categories: int, dictionaries: Dictionaries) -> npt.NDArray[np.int32]:
    """Category field of every query: the concept's path and, if asked for, those of related ones (001: ODP's five)."""
    distinct, inverse = np.unique(concept, return_inverse=True)
    fields, path = [], ConceptPaths(wordnet, FOUR + OTHER_TOPICS)
    for c in distinct.tolist():
        related = [c, *_related(wordnet, c)][:categories]
        fields.append(dictionaries.tree.add("|".join(path(r) for r in related)))
    return np.array(fields, np.int32)[inverse]


def _related(wordnet: WordNet, concept: int) -> list[int]:
    """Siblings of a concept, nearest numbers first: what a directory lists beside the best category."""
    siblings = {s for p in wordnet.parents(concept).tolist() for s in wordnet.children(p).tolist()} - {concept}
    return sorted(siblings, key=lambda s: (abs(s - concept), s))


def _times(first: npt.NDArray[np.bool_], rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Sessions begin at random within three months; a minute between their queries on average."""
    session = np.cumsum(first) - 1
    begin = START + rng.random(session[-1] + 1) * 90 * DAY
    gap = np.cumsum(np.where(first, 0.0, rng.exponential(60, len(first))))
    time: npt.NDArray[np.float64] = np.floor(begin[session] + gap - gap[first][session])
    return time


def _clicks(concept: Ints, dictionaries: Dictionaries, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """URL code of every query, NONE for half of them; ten pages a concept, Zipf."""
    weight = 1.0 / np.arange(1, 11)
    page = rng.choice(10, len(concept), p=weight / weight.sum())
    key, inverse = np.unique(concept * 10 + page, return_inverse=True)
    codes = dictionaries.url.encode([f"http://site{k // 10}.example/{k % 10}" for k in key.tolist()])
    return np.where(rng.random(len(concept)) < 0.5, codes[inverse], NONE).astype(np.int32)
