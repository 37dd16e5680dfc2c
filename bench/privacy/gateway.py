"""What a gateway learns of nodes from whose entries leave at which tick, with a throw-away account at every node.

The gateway sees people, ticks and which of its own accounts' entries leave. Of two attacks the better one counts.
By presence: a person whose entries leave at ticks at which a node is present is likelier to be at that node. By
profiles: expectation-maximisation over people's shares of nodes, each tick's entries spread over the nodes that are
present. Both are even told what the gateway is not: the first how many entries of a tick each node has, the second
what share each node has in all. The measure is how much oftener they are right than by naming the biggest node of the
tick. What profiles would find if a tick's numbers were told as well stands beside it: that is what is hidden.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bench import Figure
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.pool import SplitPool
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Leaving, SplitRecord

PEOPLE, DAYS, NODES, REQUESTS = (100, 300, 2000), 10, 20, 5
HOUR = 3600.0
Tick = list[tuple[str, str]]
"""(person, node) of every entry that left."""
Reals = npt.NDArray[np.float64]
ROUNDS, FITS, PRIOR = 40, 15, 5.0
"""Of expectation-maximisation, of fitting to a tick's numbers, and entries that the shares of all count for."""


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """The worst of the populations, by the better attack."""
    worst, said = 0.0, []
    for people in PEOPLE:
        ticks = days_of(people, DAYS, seed=2)
        right, biggest = excess(ticks)
        learnt, told, most = by_profiles(ticks, told=False), by_profiles(ticks, told=True), share_of_biggest(ticks)
        worst = max(worst, right - biggest, learnt - most)
        said.append(f"{people} people {right:.3f} of {biggest:.3f}, {learnt:.3f} (told {told:.3f}) of {most:.3f}")
    return {
        "gateway_node_excess": {
            "value": worst, "unit": "of entries", "reach": 0.02,
            "baseline": f"right node of biggest node of the tick, by presence and by profiles, a probe a node, {DAYS} "
            f"days: {'; '.join(said)}",
        }
    }  # fmt: skip


def days_of(people: int, days: int, seed: int) -> list[Tick]:
    """Ticks of so many days: people with three favourite nodes, probes that ask at their node before every tick."""
    draw = random.Random(seed)  # noqa: S311 (a simulation)
    weight = [1 / (node + 1) for node in range(NODES)]
    favourites = [draw.choices(range(NODES), weight, k=3) for _ in range(people)]
    ticks: list[Tick] = []
    for day in range(days):
        asked = [
            (draw.random() * 24 * HOUR, f"p{person}", _node(draw, favourites[person], weight))
            for person in range(people)
            for _ in range(REQUESTS)
        ]
        asked += [(hour * HOUR, f"probe{node}", node) for hour in (5.9, 11.9, 17.9, 23.9) for node in range(NODES)]
        ticks += _day(sorted(asked), SplitSettings(), Draws(day.to_bytes(32, "big")))
    return ticks


def _node(draw: random.Random, own: list[int], weight: list[float]) -> int:
    return draw.choice(own) if draw.random() < 0.7 else draw.choices(range(NODES), weight)[0]


def _day(asked: list[tuple[float, str, int]], settings: SplitSettings, draws: Draws) -> list[Tick]:
    pool, ticks, last = SplitPool(settings, draws), list[Tick](), 0
    for number, (time, person, node) in enumerate(asked):
        due = settings.tick(time)
        if due > last:
            last = due
            ticks += [_seen(leaving) for leaving in pool.tick(due).values()]
        pool.submit(SplitRecord(number.to_bytes(8, "big"), person, "all", (f"n{node}",), ()))
    return [*ticks, *(_seen(done.leaving) for _, done in pool.close() if done.leaving)]


def _seen(leaving: list[Leaving] | tuple[Leaving, ...]) -> Tick:
    return [(left.record.person, left.node[0]) for left in leaving]


def excess(ticks: list[Tick]) -> tuple[float, float]:
    """Share of people's entries whose node is guessed, and the share of the biggest node of their tick."""
    score: dict[str, Counter[str]] = defaultdict(Counter)
    crowd: Counter[str] = Counter()
    for tick in ticks:
        there = {node for person, node in tick if person.startswith("probe")}
        for person, _ in tick:
            for node in there:
                score[person][node] += 1 / len(there)  # type: ignore[assignment]
                crowd[node] += 1 / len(there)  # type: ignore[assignment]
    right = entries = 0
    biggest = 0.0
    for tick in ticks:
        count = Counter(node for _, node in tick)
        share = max(count.values()) / len(tick)
        for person, node in tick:
            if person.startswith("probe"):
                continue
            own = score[person]
            right += node == max(count, key=lambda z: (count[z] * (own[z] + 1) / (crowd[z] + 1), z))
            biggest += share
            entries += 1
    return right / max(entries, 1), biggest / max(entries, 1)


def by_profiles(ticks: list[Tick], told: bool) -> float:
    """Share of people's entries whose node is named by learnt profiles; `told`: with each tick's numbers."""
    seen = [_tick(tick) for tick in ticks]
    people = sorted({person for persons, _, _ in seen for person in persons})
    at = {person: i for i, person in enumerate(people)}
    shares = sum((np.bincount(nodes, minlength=NODES) for _, nodes, _ in seen), np.zeros(NODES))
    shares /= shares.sum()
    profiles = np.tile(shares, (len(people), 1))
    for _ in range(ROUNDS):
        learnt, right = PRIOR * np.tile(shares, (len(people), 1)), 0
        for persons, nodes, present in seen:
            rows = [at[person] for person in persons]
            guess = _spread(profiles[rows] * present, np.bincount(nodes, minlength=NODES) if told else None)
            np.add.at(learnt, rows, guess)
            right += int((guess.argmax(1) == nodes).sum())
        profiles = learnt / learnt.sum(1, keepdims=True)
    return right / sum(len(persons) for persons, _, _ in seen)


def share_of_biggest(ticks: list[Tick]) -> float:
    """Share of people's entries that are at the node with most of people's entries of their tick."""
    counts = [np.bincount(nodes, minlength=NODES) for _, nodes, _ in map(_tick, ticks)]
    return float(sum(count.max() for count in counts) / sum(count.sum() for count in counts))


def _tick(tick: Tick) -> tuple[list[str], npt.NDArray[np.intp], Reals]:
    """People's entries of a tick: whose, at which node; and 1 for each node that an account of the gateway is at."""
    own = [(person, node) for person, node in tick if not person.startswith("probe")]
    present = np.zeros(NODES)
    for person, node in tick:
        if person.startswith("probe"):
            present[int(node[1:])] = 1.0
    return [person for person, _ in own], np.array([int(node[1:]) for _, node in own], np.intp), present


def _spread(guess: Reals, counts: npt.NDArray[np.intp] | None) -> Reals:
    """Rows that sum to 1, and columns to `counts` if those are told."""
    for _ in range(0 if counts is None else FITS):
        guess = guess / np.maximum(guess.sum(1, keepdims=True), 1e-12)
        guess = guess * (counts / np.maximum(guess.sum(0), 1e-12))
    spread: Reals = guess / np.maximum(guess.sum(1, keepdims=True), 1e-12)
    return spread
