"""A simulated day: people in a town, five sessions each, of requests of all kinds within minutes."""

from dataclasses import dataclass

import numpy as np

from proxid.lab.logs.jit import Codes, Flags, Reals

PEOPLE = 2000
_PEAKS = ((0.33, 0.04), (0.54, 0.05), (0.82, 0.06))
_TOWN = (48.85, 2.35)
NODES = 20


@dataclass(frozen=True, slots=True)
class Sessions:
    """Requests in order of time, a column each: person, second of the day, kind, place in degrees, node, shape.

    general: a general request; location: of the others, a location query, else a command. node: of a general request,
    from 0. shape: of a command, from 0. people: in all.
    """

    people: int
    person: Codes
    time: Reals
    general: Flags
    location: Flags
    latitude: Reals
    longitude: Reals
    node: Codes
    shape: Codes

    def __len__(self) -> int:
        return len(self.person)


def sessions(people: int, seed: int) -> Sessions:
    """Three peaks a day; a third of the requests are general; people ask seven times in ten at home."""
    rng = np.random.default_rng(seed)
    home = np.column_stack([rng.normal(_TOWN[0], 0.05, people), rng.normal(_TOWN[1], 0.07, people)])
    person = np.repeat(np.arange(people), np.maximum(1, rng.normal(5, 2, people)).astype(np.int64))
    peak = np.array(_PEAKS)[rng.integers(0, len(_PEAKS), len(person))]
    begin = 86_400 * np.clip(rng.normal(peak[:, 0], peak[:, 1]), 0, 0.999)
    away = rng.random(len(person)) >= 0.7
    place = np.where(away[:, None], rng.normal(_TOWN, (0.03, 0.04), (len(person), 2)), home[person])
    asked = np.repeat(np.arange(len(person)), 1 + rng.exponential(4.0, len(person)).astype(np.int64))
    first = np.searchsorted(asked, asked)
    pause = np.cumsum(rng.exponential(60.0, len(asked)))
    time = begin[asked] + pause - pause[first]
    order = np.argsort(time, kind="stable")
    order = order[time[order] < 86_400]
    asked, time = asked[order], time[order]
    return Sessions(
        people, person[asked].astype(np.int32), time, rng.random(len(time)) < 1 / 3, rng.random(len(time)) < 0.3,
        place[asked, 0], place[asked, 1], np.minimum(rng.zipf(1.6, len(time)) - 1, NODES - 1).astype(np.int32),
        np.minimum(rng.exponential(2.86, len(time)), 11).astype(np.int32),
    )  # fmt: skip
