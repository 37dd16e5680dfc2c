"""Aliases of a day found from a feed under lasting names, by time alone.

A party that gets general requests under `user_id` and locations or commands under an alias of the day sees one person's
sessions twice: the alias is likeliest whose windows fall where the named person was active. Each window of an alias
(bucket or slot) adds the logarithm of how much more of that person's day than of the crowd's lies in it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proxid.lab.attacks.join import DAY
from proxid.lab.attacks.registry import Options
from proxid.lab.logs.jit import Codes, Longs, Reals
from proxid.lab.released_log import Release

GRID = 900.0
"""Seconds of the grid on which activity is laid out."""
LAGS = (1.0, 0.6, 0.4, 0.25)
"""Weight of a record's being asked so many buckets before it is shown, where groups take their time to fill."""
_PATIENT = 3600.0
_CROWD = 0.2
ALIASED_SHARE = 0.4
SLOT = 900.0


@dataclass(frozen=True, slots=True)
class Feed:
    """Entries of one day: person and the window [start, start + width) each was asked in, in seconds of the day."""

    person: Codes
    start: Reals
    width: Reals


def activity(feed: Feed, people: int) -> Reals:
    """Share of each person's day at each place of the grid; a table people × places."""
    places = int(DAY / GRID)
    table = np.zeros((people, places))
    first = np.clip((feed.start / GRID).astype(np.int64), 0, places - 1)
    steps = np.clip(np.rint(feed.width / GRID).astype(np.int64), 1, places)
    for width in np.unique(steps).tolist():
        chosen = steps == width
        for step in range(width):
            at = np.minimum(first[chosen] + step, places - 1)
            np.add.at(table, (feed.person[chosen], at), 1 / width)
    if len(feed.width) and feed.width.max() < _PATIENT:
        padded = np.pad(table, ((0, 0), (0, len(LAGS))))
        table = np.sum([weight * padded[:, lag : lag + places] for lag, weight in enumerate(LAGS)], axis=0)
    return np.asarray(table / np.maximum(table.sum(axis=1, keepdims=True), 1e-12))


def link_aliases(named: Feed, aliased: Feed, people: int) -> Reals:
    """Chance that the right name is taken for each person who has an alias: 1, 1/t where t names fit equally, or 0.

    aliased.person is the true person, which the scoring alone uses: the day's alias of each is one and the same.
    """
    share = activity(named, people)
    crowd = share.mean(axis=0) + 1e-4
    sums = np.pad(np.cumsum(share, axis=1), ((0, 0), (1, 0)))
    whole = np.concatenate([[0.0], np.cumsum(crowd)])
    first = (aliased.start / GRID).astype(np.int64)
    last = np.minimum(first + np.maximum(np.rint(aliased.width / GRID).astype(np.int64), 1), share.shape[1])
    windows, place = np.unique(np.column_stack([first, last]), axis=0, return_inverse=True)
    begin, end = windows[:, 0], windows[:, 1]
    base = whole[end] - whole[begin]
    fit = np.log(((1 - _CROWD) * (sums[:, end] - sums[:, begin]) + _CROWD * base) / base).T
    owners, who = np.unique(aliased.person, return_inverse=True)
    there = np.zeros((len(owners), len(windows)))
    there[who, place.reshape(-1)] = 1.0
    score = there @ fit
    own = score[np.arange(len(owners)), owners][:, None]
    better = (score > own + 1e-9).sum(axis=1)
    equal = (np.abs(score - own) <= 1e-9).sum(axis=1)
    return np.where(better == 0, 1 / equal, 0.0)


def bucket_width(time: Reals) -> float:
    """The width of the buckets that times are given in: their greatest common step, a day at most."""
    known = np.unique(time[~np.isnan(time)]).astype(np.int64)
    step = int(np.gcd.reduce(np.diff(known))) if len(known) > 1 else int(DAY)
    return float(min(step, int(DAY)))


def alias_link(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The attack as `proxid attack` calls it.

    A log holds general requests alone: ALIASED_SHARE of them, drawn, stand for locations and commands. They leave the
    release and are shown under an alias of the day in slots of a quarter of an hour.
    """
    if not release.exact:
        return {"reason": "needs the truth file"}
    aliased = np.random.default_rng(options.seed).random(len(release.original)) < ALIASED_SHARE
    shown = release.released
    keep = (release.origin >= 0) & ~aliased[release.origin] & ~np.isnan(shown.time)
    taken = np.flatnonzero(aliased & ~np.isnan(release.original.time))
    width = bucket_width(shown.time)
    asked = release.original.time[taken]
    found, chance = _by_day((shown.user[keep], shown.time[keep], width), (release.original.user[taken], asked, SLOT))
    return {
        "covered_by_theorem": False,
        "bucket_s": width,
        "aliases": len(found),
        "linked": float(found.mean()) if len(found) else float("nan"),
        "chance": float(chance.mean()) if len(chance) else float("nan"),
    }


def _by_day(named: tuple[Codes, Reals, float], aliased: tuple[Codes, Reals, float]) -> tuple[Reals, Reals]:
    """Every day by itself: the chance of the right name for each alias, and that of a name drawn of the day's."""
    days: Longs = np.unique(np.floor(aliased[1] / DAY).astype(np.int64))
    found: list[Reals] = [np.zeros(0)]
    chance: list[Reals] = [np.zeros(0)]
    for day in days.tolist():
        feeds = []
        for person, time, width in (named, aliased):
            today = np.floor(time / DAY) == day
            start = np.floor((time[today] - day * DAY) / width) * width
            feeds.append(Feed(person[today], start, np.full(len(start), width)))
        there = np.unique(np.concatenate([feed.person for feed in feeds]))
        feeds = [Feed(np.searchsorted(there, feed.person).astype(np.int32), feed.start, feed.width) for feed in feeds]
        found.append(link_aliases(feeds[0], feeds[1], len(there)))
        chance.append(np.full(len(found[-1]), 1 / max(len(there), 1)))
    return np.concatenate(found), np.concatenate(chance)
