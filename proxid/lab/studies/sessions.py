"""The experiments of 004 on a log: what sessions, clicks and KA publish, and what query suggestion makes of it.

Nine tenths of the users are released, the sessions of the others test. Runs are those of 004 §5.1: the original log,
KA(K), DP_C (clicks alone) and DP_S (sessions and clicks); each is scored on the sessions it evaluates (Table 5) and on
those that all runs evaluate. Table 5 is the mean over several draws of the noise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

import ibis

from proxid.errors import ConfigError
from proxid.lab.release.guarantee import Guarantee, Relation
from proxid.lab.release.sequences import sequence_histogram, session_queries
from proxid.lab.release.sessions.counting import click_histogram, click_users
from proxid.lab.release.sessions.mechanism import sanitise
from proxid.lab.release.sessions.plan import TwoStepPlan, session_sensitivity, two_step_plan
from proxid.lab.release.source import in_class
from proxid.lab.studies.counted import NOISE, CountedLog, Counts, Histogram, histogram_of
from proxid.lab.utility.counted.suggestion import (
    Evaluated,
    Suggester,
    compared,
    evaluate,
    flow_of_released,
    flow_of_sessions,
    suggester,
)

Progress = Callable[[int, int], None]
Pairs = dict[tuple[str, str], float]
TENTHS: Final = 10
TABLE4: Final = (
    (1, 10, 1, 3), (1, 20, 1, 3), (1, 30, 1, 3), (3, 20, 1, 3), (3, 30, 1, 3),
    (1, 20, 1, 4), (2, 30, 1, 4), (1, 20, 2, 3), (2, 30, 2, 3),
)  # fmt: skip
"""b, K, l_s, l_q of each row."""


@dataclass(frozen=True)
class Settings:
    """004's parameters; K is varied over `ks` for the figures and is `k` for Table 5."""

    k: float = 20.0
    b: float = 1.0
    l_s: int = 1
    l_q: int = 3
    clicks: int = 4
    ks: Sequence[int] = (5, 8, 10, 15, 20, 30, 50)
    most_tests: int = 3000
    draws: int = 5


@dataclass(frozen=True)
class Counted:
    """What is counted of the released part once: bounded sequences and clicks, users of all clicks; test sessions."""

    sequences: Histogram
    bounded_clicks: Histogram
    clicks: Histogram
    flow: Pairs
    tests: list[list[str]]


def run(log: CountedLog, settings: Settings, progress: Progress) -> dict[str, Any]:
    """All tables and figures as numbers."""
    counted = count(log, settings)
    progress(1, 3)
    table_5 = mean_of_draws([_compared(counted, settings) for _ in range(settings.draws)])
    progress(2, 3)
    found = {
        "users": log.users,
        "tests": len(counted.tests),
        "table_4": [table_4_row(log.users, *row) for row in TABLE4],
        "table_5": table_5,
        "cost": cost(settings),
        "figures_1_2": [by_threshold(counted, settings, k) for k in settings.ks],
    }
    progress(3, 3)
    return found


def _compared(counted: Counted, settings: Settings) -> dict[str, Any]:
    """Table 5 of one draw of the noise."""
    runs = runs_at(counted, settings, settings.k)
    return compared({name: evaluate(graphs, counted.tests) for name, graphs in runs.items()})


def mean_of_draws(tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One table of several that have the same runs, parts and measures."""
    return {
        name: {
            part: {key: fmean(table[name][part][key] for table in tables) for key in scores}
            for part, scores in parts.items()
        }
        for name, parts in tables[0].items()
    }


def count(log: CountedLog, settings: Settings) -> Counted:
    """Count the nine tenths on the engine, and bring the sessions here."""
    testing = in_class(log.log, 0, TENTHS)
    train, test = log.log.filter(~testing), log.log.filter(testing)

    def fetched(table: ibis.Table, *columns: str) -> Histogram:
        return histogram_of(log.engine.fetch(table), columns)

    return Counted(
        fetched(sequence_histogram(train, settings.l_s, settings.l_q), "sequence"),
        fetched(click_histogram(train, settings.clicks), "query", "url"),
        fetched(click_users(train, 0), "query", "url"),
        dict(flow_of_sessions(sessions_of(log, train))),
        sessions_of(log, test)[: settings.most_tests],
    )


def sessions_of(log: CountedLog, part: ibis.Table) -> list[list[str]]:
    """The sessions of two queries or more, by user and time."""
    table = log.engine.fetch(session_queries(part).order_by(["user", "session", "place"]))
    sessions: list[list[str]] = []
    for place, query in zip(table.column("place").to_pylist(), table.column("query").to_pylist(), strict=True):
        if place == 0:
            sessions.append([])
        sessions[-1].append(query)
    return [session for session in sessions if len(session) > 1]


def plans(settings: Settings, k: float) -> tuple[TwoStepPlan, TwoStepPlan] | None:
    """Plans of sessions and clicks at a threshold; None where they guarantee nothing."""
    try:
        sessions = two_step_plan(session_sensitivity(settings.l_s, settings.l_q), settings.b, k)
        return sessions, two_step_plan(settings.clicks, settings.b, k)
    except ConfigError:
        return None


def released_at(counted: Counted, settings: Settings, k: float) -> dict[str, Counts]:
    """What each method publishes at a threshold; the noisy ones only where they guarantee something."""
    exact = counted.clicks.as_dict()
    found: dict[str, Counts] = {"KA": {item: n for item, n in exact.items() if n > k}}
    if (both := plans(settings, k)) is not None:
        found["sessions"] = counted.sequences.kept(sanitise(counted.sequences.counts, both[0], NOISE))
        found["clicks"] = counted.bounded_clicks.kept(sanitise(counted.bounded_clicks.counts, both[1], NOISE))
    return found


def runs_at(counted: Counted, settings: Settings, k: float) -> dict[str, Suggester]:
    """The runs of 004 §5.1 as graphs."""
    published = released_at(counted, settings, k)
    runs = {"Original": suggester(counted.flow, _pairs(counted.clicks.as_dict()))}
    runs["KA"] = suggester({}, _pairs(published["KA"]))
    if "clicks" in published:
        clicks = _pairs(published["clicks"])
        runs["DP_C"] = suggester({}, clicks)
        runs["DP_S"] = suggester(flow_of_released(published["sessions"]), clicks)
    return runs


def _pairs(counts: Counts) -> Pairs:
    return {(item[0], item[1]): count for item, count in counts.items()}


def by_threshold(counted: Counted, settings: Settings, k: float) -> dict[str, Any]:
    """Figures 1 and 2 at one K: items published, sessions evaluated, P@5 and R@5."""
    published = {name: len(items) for name, items in released_at(counted, settings, k).items()}
    graphs = {name: run for name, run in runs_at(counted, settings, k).items() if name != "Original"}
    scores: dict[str, Evaluated] = {name: evaluate(run, counted.tests) for name, run in graphs.items()}
    return {"K": k, "published": published, "scores": {name: score.mean() for name, score in scores.items()}}


def table_4_row(users: int, b: float, k: float, l_s: int, l_q: int) -> dict[str, Any]:
    """Epsilon and delta of a run, and whether delta is over 1/U here."""
    held = two_step_plan(session_sensitivity(l_s, l_q), b, k).guarantee
    row = {"b": b, "K": k, "l_s": l_s, "l_q": l_q, "epsilon": held.epsilon, "delta": held.delta}
    return row | {"delta_over_1_in_U": held.delta * users > 1}


def cost(settings: Settings) -> dict[str, Any]:
    """What Table 5's DP_S costs: sessions, clicks, both, and both for neighbours that replace a user."""
    both = plans(settings, settings.k)
    if both is None:
        raise ConfigError("K is too low for b, l_s, l_q and l: sessions or clicks would guarantee nothing")
    total: Guarantee = both[0].guarantee.and_then(both[1].guarantee)
    named = {"sessions": both[0].guarantee, "clicks": both[1].guarantee, "both": total}
    return {name: held.as_dict() for name, held in (named | {"both, replacing": total.under(Relation.REPLACE)}).items()}
