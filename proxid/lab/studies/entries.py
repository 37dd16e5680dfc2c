"""The mechanisms of the five papers with the parameters at which `study all` compares them.

Epsilon and delta are for one neighbour relation, one user's history replaced; delta is below 1/U. k is 10 for
mechanisms that hide in a crowd by design; microaggregation has the paper's k = 3.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

KINDS = ("queries", "keywords", "pairs", "clicks")


class Kind(StrEnum):
    """What a release consists of."""

    LOG = "log"
    """Rows of a person and a text."""
    ITEMS = "items"
    """Items with noisy counts."""
    HISTOGRAMS = "histograms"
    """Noisy counts of concepts by person."""


@dataclass(frozen=True)
class Entry:
    """One line of the comparison.

    Attributes:
        label: its name. paper: first author (+: what proxid adds to it). method, options: of `proxid release`.
    """

    label: str
    paper: str
    method: str
    kind: Kind
    options: dict[str, Any]
    names_people: bool = True
    """Whether a person of the release is a person of the log (k-query has session numbers instead)."""
    kinds: tuple[str, ...] = ()
    """Kinds of items that are released one by one for the tasks that need them, each at the entry's cost."""


def two_step(sensitivity: int, epsilon: float, delta: float, parts: int = 1) -> dict[str, float]:
    """b and K of 004 at which `parts` such releases together cost (ε, δ) when one user is replaced.

    Replacing costs twice equation 9's ε (with ln α = 1/b, as for any K with a small δ) and its δ times 1 + e^(ε/2).
    """
    b = 4 * sensitivity * parts / epsilon
    each = delta / (1 + math.exp(epsilon / 2)) / parts
    threshold = sensitivity + b * math.log(sensitivity / (2 * each))
    return {"b": b, "K": threshold * (1 + 1e-9)}


def entries(users: int, epsilon: float, k: int = 10) -> list[Entry]:
    """Every mechanism; `users` is the public number of users U."""
    delta = 0.5 / users
    counted = {"epsilon": epsilon, "delta": delta, "users": users}
    return [
        Entry("kbuffer thesis", "Pàmies", "kbuffer", Kind.LOG, {"mode": "thesis", "k": k}),
        Entry("kbuffer mix", "Pàmies+", "kbuffer", Kind.LOG, {"mode": "mix", "k": k, "max_delay": "never"}),
        Entry("form split", "Pàmies+", "kbuffer", Kind.LOG, {"form": "split", "k": k, "level": 1}),
        Entry("form cohort", "Pàmies+", "kbuffer", Kind.LOG, {"form": "cohort", "k": k}),
        Entry("microaggregation k=3", "Erola", "microaggregation", Kind.LOG, {"k": 3}),
        Entry("semantic SQC2, ε/m", "Sánchez", "semantic", Kind.LOG, {"criterion": "sqc2", "epsilon": epsilon}),
        Entry(
            "semantic SQC2, ε=10 a query", "Sánchez", "semantic", Kind.LOG,
            {"criterion": "sqc2", "epsilon": 10.0, "budget": "query"},
        ),
        Entry("semantic SQC1, ε/m", "Sánchez", "semantic", Kind.LOG, {"criterion": "sqc1", "epsilon": epsilon}),
        Entry("NSQC, ε/m", "Sánchez", "nsqc", Kind.LOG, {"epsilon": epsilon}),
        Entry("HBDP", "Sánchez", "hbdp", Kind.HISTOGRAMS, {"epsilon": epsilon}),
        Entry("k-query", "Götz", "k-query", Kind.LOG, {"k": k}, names_people=False),
        Entry("ZEALOUS probabilistic", "Götz", "zealous", Kind.ITEMS, {**counted, "m": 5}, kinds=KINDS),
        Entry(
            "ZEALOUS indist.", "Götz", "zealous", Kind.ITEMS, {**counted, "m": 5, "analysis": "indistinguishability"},
            kinds=KINDS,
        ),
        Entry("partition", "Götz+", "partition", Kind.ITEMS, {**counted, "m": 5}, kinds=KINDS),
        Entry(
            "sessions", "Zhang", "sessions", Kind.ITEMS,
            {"users": users, "l_s": 1, "l_q": 2, "with_clicks": True, "l": 1, **two_step(1, epsilon, delta, parts=2)},
        ),
        Entry("clicks", "Zhang", "clicks", Kind.ITEMS, {"users": users, "l": 2, **two_step(2, epsilon, delta)}),
        Entry("k_A", "Zhang", "ka", Kind.ITEMS, {"K": k}),
    ]  # fmt: skip
