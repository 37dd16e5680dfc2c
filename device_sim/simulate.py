"""What the shipped corpus lacks, from a seed: texts that several people share, places, an order in time (DESIGN 8.7).

MASSIVE's people seldom say the same; without a shared text no group could ever show one. So a part of each person's
utterances is replaced by texts of a small pool: some whole ones, and some that only share a thing they name.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from device_sim.corpus import Event

SHARED_SCENARIOS: Final = frozenset({"qa", "general", "cooking", "news", "recommendation"})
_CENTRES: Final = ((41.39, 2.17), (48.86, 2.35))
_SPREAD: Final = 0.005
"""Degrees, half a kilometre: neighbours, so that places form groups."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """What the simulator makes of a corpus.

    Attributes:
        seed: everything follows from it. people: how many take part. repeats: share of a person's utterances that
            come from the pool. pool: number of shared texts.
    """

    seed: int = 7
    people: int = 100
    repeats: float = 0.35
    pool: int = 12

    def events(self, corpus: Sequence[Event]) -> list[Event]:
        """The events of `people` persons, mixed in time."""
        source = random.Random(self.seed)  # noqa: S311 - a simulation, not a secret
        by_person: dict[str, list[Event]] = {}
        for event in corpus:
            by_person.setdefault(event.user, []).append(event)
        chosen = list(by_person)[: self.people]
        pool = self._pool(source, corpus)
        events = [event for person in chosen for event in self._person(source, by_person[person], pool)]
        source.shuffle(events)
        return events

    def _pool(self, source: random.Random, corpus: Sequence[Event]) -> list[str]:
        texts = sorted({event.text for event in corpus if event.scenario in SHARED_SCENARIOS})
        return source.sample(texts, min(self.pool, len(texts)))

    def _person(self, source: random.Random, own: Sequence[Event], pool: Sequence[str]) -> list[Event]:
        centre = source.choice(_CENTRES)
        place = f"{centre[0] + source.gauss(0, _SPREAD):.5f},{centre[1] + source.gauss(0, _SPREAD):.5f}"
        shared = source.sample(list(pool), min(len(pool), round(self.repeats * len(own))))
        texts = shared + [event.text for event in own[len(shared) :]]
        return [replace(event, text=text, location=place) for event, text in zip(own, texts, strict=True)]
