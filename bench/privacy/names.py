"""Names behind aliases, by time: what one party can do that a policy allows, what it could do, what two can do."""

from collections.abc import Mapping

import numpy as np

from bench import Figure
from bench.privacy.day import PEOPLE, Sessions, sessions
from proxid.lab.attacks.alias_link import Feed, link_aliases
from proxid.lab.attacks.join import DAY, join_feeds

SLOT, BUCKET = 900.0, 21_600.0


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """A day of 2,000 people whose sessions mix all kinds of requests."""
    day = sessions(PEOPLE, 3)
    rates = {width: linked(day, width) for width in (SLOT, BUCKET)}
    nobody = Feed(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))
    alone = float(link_aliases(nobody, _aliased(day), day.people).mean())
    asked = day.general
    bucket = np.floor(day.time[asked] / BUCKET) * BUCKET
    joined = join_feeds(day.person[asked], day.node[asked], bucket)
    return {
        "alias_link_rate": {
            "value": alone, "unit": "of aliases", "reach": 0.002,
            "baseline": "one party has names or aliases, never both; with both, which no policy takes:"
            f" {rates[SLOT]:.3f} at buckets of 15 min, {rates[BUCKET]:.3f} at 6 h",
        },
        "alias_join_rate": {
            "value": joined.as_dict()["joined"], "unit": "of person-days", "reach": None,
            "baseline": "two parties of one audience, by (node, bucket): nothing prevents it",
        },
    }  # fmt: skip


def _aliased(day: Sessions) -> Feed:
    start = np.floor(day.time[~day.general] / SLOT) * SLOT
    return Feed(day.person[~day.general], start, np.full(len(start), SLOT))


def linked(day: Sessions, width: float) -> float:
    """Share of the aliases of a day whose name is found, general requests in buckets of `width` seconds."""
    start = np.minimum(np.floor(day.time[day.general] / width) * width, DAY - width)
    named = Feed(day.person[day.general], start, np.full(len(start), width))
    return float(link_aliases(named, _aliased(day), day.people).mean())
