"""Replace concepts by similar ones with differential privacy (000 §3.3; DESIGN 13).

Each input is protected alone, by the exponential mechanism over its domain; what a user's queries cost together is
`budget`'s business.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proxid.errors import InputError
from proxid.lab.release.semantic.domain import Domain, Ints, Reals, build_domains
from proxid.lab.release.semantic.exponential import RandomBytes, draw
from proxid.lab.release.semantic.quality import Criterion, QualityTable, quality_table
from proxid.lab.release.semantic.topics import OTHER, Setting, categorise
from proxid.ontology.wordnet import WordNet


def no_progress(done: int, total: int) -> None:
    """Report progress to nobody."""


@dataclass(frozen=True, eq=False)
class SemanticMechanism:
    """The mechanism for one setting and criterion; `domain_of` and `topic_of` are indexed by WordNet number."""

    setting: Setting
    criterion: Criterion
    domains: list[Domain]
    domain_of: npt.NDArray[np.int16]
    topic_of: npt.NDArray[np.int16]
    place: Ints
    """Number of each concept within its domain, -1 outside all of them."""

    def table(self, concept: int) -> QualityTable:
        """The candidates for one concept (WordNet number) by quality."""
        domain = self.domains[self.domain_of[concept]]
        return quality_table(domain, self.criterion, int(self.place[concept]), self.topic_of[domain.concepts])

    def protect(
        self,
        concepts: Ints,
        epsilon: Reals,
        random: RandomBytes,
        progress: Callable[[int, int], None] = no_progress,
    ) -> Ints:
        """One output for every input, in order; `epsilon` is ε′ of each input.

        Raises InputError for a concept outside the domains, ConfigError for an unusable ε′.
        """
        if len(concepts) and (self.domain_of[concepts] == OTHER).any():
            raise InputError("a concept to protect is outside every domain")
        output = np.empty(len(concepts), np.int64)
        done = 0
        for concept, rows in _groups(concepts):
            table, domain = self.table(concept), self.domains[self.domain_of[concept]]
            output[rows] = domain.concepts[draw(table, epsilon[rows], random)]
            done += len(rows)
            progress(done, len(concepts))
        return output


def _groups(keys: Ints) -> Iterator[tuple[int, Ints]]:
    """Every distinct key with the positions that hold it."""
    order = np.argsort(keys, kind="stable")
    edges = np.flatnonzero(np.r_[True, np.diff(keys[order]) != 0, True]) if len(keys) else np.zeros(1, np.int64)
    for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        yield int(keys[order[a]]), order[a:b]


def build_mechanism(wordnet: WordNet, setting: Setting, criterion: Criterion) -> SemanticMechanism:
    """Prepare the domains, topics and places of a setting."""
    domains, domain_of = build_domains(wordnet, setting.domains)
    place = np.full(len(wordnet), -1, np.int64)
    for domain in domains:
        place[domain.concepts] = np.arange(len(domain))
    return SemanticMechanism(setting, criterion, domains, domain_of, categorise(wordnet, setting.topics), place)
