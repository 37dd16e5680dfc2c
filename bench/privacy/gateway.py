"""What a gateway learns of nodes from whose entries leave at which tick, with a throw-away account at every node.

The gateway sees people, ticks and its own requests. A person whose entries leave at ticks at which a node is present is
likelier to be at that node; it is even told how many entries of the tick each node has. The measure is how much oftener
it is right than by naming the biggest node of the tick.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping

from bench import Figure
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.pool import SplitPool
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Leaving, SplitRecord

PEOPLE, DAYS, NODES, REQUESTS = (100, 300, 2000), 10, 20, 5
HOUR = 3600.0
Tick = list[tuple[str, str]]
"""(person, node) of every entry that left."""


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """The worst of the populations."""
    found = {people: excess(days_of(people, DAYS, seed=2)) for people in PEOPLE}
    said = ", ".join(f"{people} people {right:.3f} of {biggest:.3f}" for people, (right, biggest) in found.items())
    worst = max(right - biggest for right, biggest in found.values())
    return {
        "gateway_node_excess": {
            "value": worst, "unit": "of entries", "reach": 0.02,
            "baseline": f"right node of biggest node of the tick, a probe a node, {DAYS} days: {said}",
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
