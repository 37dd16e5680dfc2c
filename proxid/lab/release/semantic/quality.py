"""The quality criteria of 000: SQC1 (eq. 5), SQC2 (eq. 6) and NSQC (eq. 12), with their sensitivities.

For one input concept the candidates fall into few classes of equal quality; a table holds the classes.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from proxid.lab.release.semantic.domain import Domain, Ints, Reals


class Criterion(StrEnum):
    """How well a candidate stands in for the input."""

    SQC1 = "sqc1"
    """Their similarity."""
    SQC2 = "sqc2"
    """Their similarity if they are of one profile topic, else 0."""
    NSQC = "nsqc"
    """1 if they are equal, else 0: no semantics, the paper's baseline."""


@dataclass(frozen=True, eq=False)
class QualityTable:
    """Candidates of one input by quality: `members[start[g]:start[g+1]]` (domain numbers) all have `quality[g]`."""

    quality: Reals
    start: Ints
    members: Ints
    sensitivity: float

    @property
    def sizes(self) -> Ints:
        """Number of candidates in each class."""
        return np.diff(self.start)


def sensitivity(domain: Domain, criterion: Criterion) -> float:
    """The most that the quality of any candidate changes with the input: max_sim − min_sim, max_sim, 1.

    A domain of one concept has only one output: any positive number serves.
    """
    if criterion is Criterion.SQC1:
        return (1.0 - domain.min_similarity) or 1.0
    return 1.0


def quality_row(domain: Domain, criterion: Criterion, i: int, topic: npt.NDArray[np.int16]) -> Reals:
    """Quality of every candidate for input i; `topic` is ρ of every concept of the domain."""
    if criterion is Criterion.NSQC:
        equal: Reals = (np.arange(len(domain)) == i).astype(np.float64)
        return equal
    row = domain.similarities(i)
    return row if criterion is Criterion.SQC1 else np.where(topic == topic[i], row, 0.0)


def quality_table(domain: Domain, criterion: Criterion, i: int, topic: npt.NDArray[np.int16]) -> QualityTable:
    """The classes of input i, best first."""
    row = quality_row(domain, criterion, i, topic)
    members = np.argsort(-row, kind="stable")
    ordered = row[members]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    return QualityTable(ordered[first], np.r_[first, len(row)], members, sensitivity(domain, criterion))
