"""docs/results/privacy.md: the table and the other parts' figures in words."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bench import Figure
from bench.privacy.forms import MARGIN, K

N: Final = K + 1 + MARGIN
WIDTH: Final = 120
INTRODUCTION: Final = f"""# What attacks find in each form

Printed by `proxid bench privacy -o part=table -o page=FILE` on a checkout; k = {K}, m = {MARGIN}, n = {N}. The attack
is `em`: it learns people's profiles out of the release itself, or starts from so many known records of everybody,
drawn, and names the likeliest owner of every record; in rounds it is also told which record stands in which round,
which a release does not say. Only records that show something below the node are scored, and their share of all
records stands last. Chance is the person with most records of the group or round. A statement says that a person
asked a content in a round or group; those of a probability of 0.9 and more are counted beside the scored records.
What `split` claims is 1/(k+m) and a point, {100 / (N - 1) + 1:.1f} %, and with ten known items six points, {
    100 / (N - 1) + 6:.1f} %; `cohort` claims 1/n, {100 / N:.1f} %, to who knows nothing beforehand.

Pairs are the whole log as one epoch. `proxid bench privacy` fails if the attack finds under 55 and 20 % of their
owners at levels 1 and 2 of the first log. MASSIVE's people are crowd workers who spoke prompts, with less of a habit
than anybody has, and its categories have two levels, scenario and intent:
those figures are lower bounds.
"""


class Page:
    """Lines of the table, written with the rest once they are complete.

    Args:
        path: where to; None for nowhere.
    """

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else Path(path)
        self._lines: list[str] = []

    def add(self, *lines: str) -> None:
        """More lines; what there is so far is on disk at any time."""
        self._lines += lines
        self._write("")

    def finish(self) -> None:
        """The page with what the other parts say."""
        if self._path is not None:
            self._write("\n".join(map(filled, (gateway(), names(), utility()))))

    def _write(self, rest: str) -> None:
        if self._path is not None:
            text = "\n".join([filled(INTRODUCTION), *self._lines, rest]).rstrip() + "\n"
            self._path.write_text(text, encoding="utf-8")


def filled(text: str) -> str:
    """Paragraphs in lines of WIDTH characters; headings and tables stay."""
    parts = [part.strip("\n") for part in text.split("\n\n")]
    keep = {"#", "|"}
    return "\n\n".join(part if part[:1] in keep else textwrap.fill(part, WIDTH) for part in parts) + "\n"


def gateway() -> str:
    """What ticks tell."""
    from bench.privacy.gateway import (
        DAYS,
        NODES,
        PEOPLE,
        REQUESTS,
        by_profiles,
        days_of,
        excess,
        share_of_biggest,
    )

    present, learnt = [], []
    for people in PEOPLE:
        ticks = days_of(people, DAYS, seed=2)
        right, biggest = map(_percent, excess(ticks))
        present.append(f"for {people:,} people {right} ({biggest})")
        found = (by_profiles(ticks, told=False), share_of_biggest(ticks), by_profiles(ticks, told=True))
        own, most, told = map(_percent, found)
        learnt.append(f"{own} ({most}; {told})")
    return f"""## What a gateway learns

With an account of its own at each of {NODES} nodes, {DAYS} days, {REQUESTS} requests a person and day (`-o
part=gateway`): it names the right node of an entry as often as the biggest node of the tick is right,
{", ".join(present)}; by profiles that it learns from which nodes are there at each tick, {", ".join(learnt)}. The last
figure is what it would find if it were told how many entries of a tick each node has, which nothing tells it: that is
what the flat list hides.
"""


def names() -> str:
    """What times tell of names."""
    from bench.privacy.day import PEOPLE, sessions
    from bench.privacy.names import BUCKET, SLOT, linked, run

    day = sessions(PEOPLE, 3)
    fine, wide = (_percent(linked(day, width)) for width in (SLOT, BUCKET))
    joined = _percent(run({})["alias_join_rate"]["value"])
    return f"""## Names

A simulated day of {PEOPLE:,} people (`-o part=names`). One party that had names for general requests and aliases of
the day for places and commands would find the name of {fine} of the aliases by time alone at buckets of 15 minutes,
{wide} at 6 hours; a party that has only one of the two has nothing to link. Two parties of one audience join {joined}
of the person-days by (node, bucket), and nothing prevents it.
"""


def utility() -> str:
    """What is left to say."""
    from bench.privacy.day import PEOPLE
    from bench.privacy.utility import MANY, POPULATIONS, run

    found = run({"many": "1"})
    columns: dict[str, Callable[[int], Figure]] = {
        "entries": lambda people: found[f"released_people_{people}"],
        "in rounds": lambda people: found[f"released_content_{people}"],
        "shown below the node": lambda people: found[f"released_below_{people}"],
        "with a text or unit": lambda people: found[f"released_text_{people}"],
        "error of shares at the node": lambda people: found[f"share_error_node_{people}"],
        "one below": lambda people: found[f"share_error_below_{people}"],
        "an entry waits": lambda people: found[f"delay_people_{people}"],
        "a content": lambda people: found[f"delay_content_{people}"],
    }
    head = f"| people who ask | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}"
    lines = []
    for people in (*POPULATIONS, MANY):
        cells = [_cell(figure(people)) for figure in columns.values()]
        lines.append(f"| {people:,} | {' | '.join(cells)} |")
    left = {kind: found[f"released_{kind}"] for kind in ("location", "command")}
    before = {kind: found[f"released_{kind}_before"]["value"] for kind in left}
    return f"""## What each form still says

A day of five requests a person on average, form `split` at level 1 (`-o part=utility -o many=1`): shares of all
records; the error of category shares is the sum of the differences between their shares in the log and in the release
(0 none, 2 all), at the node by entries and one below by contents, where rare categories are shown seldom; waiting is
the median, to a tick of 6 h and to the close of the day.

{head}
{chr(10).join(lines)}

User × node counts are exact for what left. Locations and commands of {PEOPLE:,} people in a simulated day: with one
record a person and slot and siblings that leave together {_percent(before["location"])} and
{_percent(before["command"])} left; in rounds, and with siblings that leave when the others hide each other,
{_percent(left["location"]["value"])} of the locations and {_percent(left["command"]["value"])} of the commands. Nine
tenths of what is lost of commands are second and later records of a person at a node and slot at which fewer than k +
m people had as many: they are given up and never moved up, since whoever leaves in a node would be located in it at
its parent.
"""


def _cell(figure: Figure) -> str:
    if figure["unit"].startswith("h"):
        return f"{figure['value']:.1f} h"
    return f"{figure['value']:.2f}" if figure["unit"] == "L1" else f"{100 * figure['value']:.0f} %"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
