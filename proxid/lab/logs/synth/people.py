"""Who searches in a synthetic log, and what for: sessions on favourite subtrees, repeats, clicks.

Guesses, where no published figure is known: sessions of 4 records on average with 60 s between them, 80 % on one of
the person's favourite subtrees (1 + Poisson(3) of them, the first ones more often), 85 % of a session's records there.
"""

import math

import numpy as np

from proxid.lab.logs.jit import Codes, Columns, Hashes, Scalar, compiled, step
from proxid.lab.logs.synth.texts import FRESH, NAVIGATION, PERSONAL, SHARED, VANITY, mixed, mixed_pair

FAVOURITES = 8
RANKS, SITES, OWN = 300, 1000, 40
"""Texts that a category's vocabulary, the list of sites and a person's own list hold."""
SESSION, GAP = 4.0, 60.0
REPEAT, FRESH_SHARE, PERSONAL_SHARE, NAVIGATION_SHARE, VANITY_SHARE, CLICKED, PAUSE = range(7)
"""Positions of the numbers in `odds`: shares of records, and the mean time from one session's start to the next."""


@step
def draw(rng: Hashes) -> Scalar:
    """A uniform real number in [0, 1)."""
    rng[0] += np.uint64(1)
    return np.float64(mixed_pair(rng[1], rng[0]) >> np.uint64(11)) / 9007199254740992.0


@step
def _exponential(rng: Hashes, mean: Scalar) -> Scalar:
    return -mean * math.log(1.0 - draw(rng))


@step
def _zipf(rng: Hashes, n: Scalar) -> Scalar:
    """A rank below n, rank r about as often as 1/(r + 1)."""
    return min(n - 1, np.int64(math.exp(draw(rng) * math.log(n + 1.0))) - 1)


@step
def popular_node(forest: Columns, above: Scalar, part: Scalar) -> Scalar:
    """A node under another, popular ones more often; `part` in [0, 1) chooses."""
    _, order, place, size, cumulated, _, _ = forest
    low, high = place[above], place[above] + size[above]
    wanted = cumulated[low] + part * (cumulated[high] - cumulated[low])
    while high - low > 1:
        middle = (low + high) // 2
        if cumulated[middle] <= wanted:
            low = middle
        else:
            high = middle
    return order[low]


@compiled
def pick_favourites(seed: Scalar, forest: Columns, favourites: Codes) -> None:
    """favourites[u] = the subtrees that person u likes, the unused places -1."""
    rng = np.uint64(seed)
    for person in range(len(favourites)):
        state = mixed_pair(rng, person)
        count: Scalar = 0
        product = 1.0
        while count < FAVOURITES - 1 and product >= math.exp(-3.0):  # Knuth's Poisson(3), cut off
            state = mixed(state)
            product *= np.float64(state >> np.uint64(11)) / 9007199254740992.0
            count += product >= math.exp(-3.0)
        for i in range(count + 1):
            state = mixed(state)
            node = popular_node(forest, 0, np.float64(state >> np.uint64(11)) / 9007199254740992.0)
            favourites[person, i] = forest[5][node]


@step
def _pick_person(rng: Hashes, activity: Columns) -> Scalar:
    low, high, wanted = -1, len(activity) - 1, draw(rng)
    while high - low > 1:
        middle = (low + high) // 2
        if activity[middle] <= wanted:
            low = middle
        else:
            high = middle
    return high


@step
def _topic(rng: Hashes, forest: Columns, favourites: Codes, person: Scalar) -> Scalar:
    """What a session is about."""
    if draw(rng) >= 0.8:
        return forest[5][popular_node(forest, 0, draw(rng))]
    count = 1
    while count < FAVOURITES and favourites[person, count] >= 0:
        count += 1
    return favourites[person, np.int64(count * draw(rng) ** 2)]


@step
def _new_text(
    rng: Hashes, odds: Columns, forest: Columns, favourites: Codes, person: Scalar, topic: Scalar, number: Scalar
) -> Scalar:
    """(kind, number, category) of a text that does not repeat the last one."""
    r = draw(rng) * (1.0 - odds[REPEAT])
    node = popular_node(forest, topic if draw(rng) < 0.85 else 0, draw(rng))
    if r < odds[FRESH_SHARE]:
        return FRESH, mixed_pair(rng[1] ^ np.uint64(77), number), node
    r -= odds[FRESH_SHARE]
    if r < odds[PERSONAL_SHARE]:
        own = mixed_pair(np.uint64(person) ^ rng[1], _zipf(rng, OWN))
        return PERSONAL, own, popular_node(forest, favourites[person, 0], np.float64(own >> np.uint64(11)) / 2.0**53)
    r -= odds[PERSONAL_SHARE]
    if r < odds[NAVIGATION_SHARE]:
        site = mixed(_zipf(rng, SITES) + 1)
        return NAVIGATION, site, popular_node(forest, 0, np.float64(site >> np.uint64(11)) / 2.0**53)
    r -= odds[NAVIGATION_SHARE]
    if r < odds[VANITY_SHARE]:
        own = (mixed_pair(rng[1], person) << np.uint64(2)) | np.uint64(np.int64(3 * draw(rng)))
        return VANITY, own, popular_node(forest, 0, np.float64(own >> np.uint64(13)) / 2.0**51)
    return SHARED, mixed_pair(node, _zipf(rng, RANKS)), node


@step
def _click(rng: Hashes, odds: Columns, text: Scalar) -> Scalar:
    """(rank, number of the URL), or (-1, 0) without a click."""
    if draw(rng) >= odds[CLICKED]:
        return -1, np.uint64(0)
    rank = min(500, np.int64((1.0 - draw(rng)) ** (-1.0 / 1.2)))
    popular = mixed_pair(text, rank)
    if popular % np.uint64(10) < 3:
        return rank, mixed(popular % np.uint64(200) + np.uint64(5_000))
    return rank, popular


@compiled
def simulate(
    rng: Hashes, odds: Columns, world: Columns, clock: Columns, out: Columns, first: Scalar, last: Scalar
) -> Scalar:
    """Whole sessions into rows first … last - 1 (the last one is cut off); returns the first free row.

    world = (forest, favourites, cumulated activity). clock = [start of the next session, number of the next record].
    out = (person, kind, id, category, time, rank, URL). Stops when a long session might not fit and rows are plenty.
    """
    forest, favourites, activity = world
    person, kind, text, category, time, rank, url = out
    row = first
    while row < last:
        clock[0] += _exponential(rng, odds[PAUSE])
        who, moment = _pick_person(rng, activity), clock[0]
        topic = _topic(rng, forest, favourites, who)
        length = 1 + np.int64(math.log(1.0 - draw(rng)) / math.log(1.0 - 1.0 / SESSION))
        for i in range(min(length, last - row)):
            if i > 0 and draw(rng) < odds[REPEAT] / (1.0 - 1.0 / SESSION):
                kind[row], text[row], category[row] = kind[row - 1], text[row - 1], category[row - 1]
            else:
                chosen = _new_text(rng, odds, forest, favourites, who, topic, np.int64(clock[1]))
                kind[row], text[row], category[row] = chosen
            person[row], time[row] = who, moment
            rank[row], url[row] = _click(rng, odds, text[row])
            moment += _exponential(rng, GAP)
            clock[1] += 1
            row += 1
    return row
