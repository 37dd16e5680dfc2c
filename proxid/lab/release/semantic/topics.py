"""Topics and domains of 000 §4: the function ρ(c) → P, and the settings A, B and C.

The paper names the four domains and says that 19 topics below them make the finer profiles, but its Figure 1 is lost:
the nineteen here are the largest specialisations of each domain that do not contain one another, among them every one
the text names (respiratory and genetic diseases, natural and social science, contact and water sports, shows,
competitions).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proxid.ontology.wordnet import WordNet

OTHER = -1
"""ρ of a concept under none of the topics; in a profile it is a bin of its own."""

FOUR = ("disease.n.01", "science.n.01", "sport.n.01", "social_event.n.01")
"""Health, Science ("scientific discipline" is a label of science.n.01), Sports, Society."""

NINETEEN = (
    "communicable_disease.n.01", "skin_disease.n.01", "genetic_disease.n.01", "respiratory_disease.n.01",
    "malignancy.n.01", "inflammatory_disease.n.01",
    "natural_science.n.01", "mathematics.n.01", "social_science.n.01", "linguistics.n.01", "psychology.n.01",
    "athletic_game.n.01", "water_sport.n.01", "contact_sport.n.01", "outdoor_sport.n.01", "track_and_field.n.01",
    "contest.n.01", "show.n.03", "affair.n.03",
)  # fmt: skip

ABSTRACTION = ("abstraction.n.06",)
"""The most specific concept above all four domains."""


@dataclass(frozen=True)
class Setting:
    """What queries may turn into (`domains`, each a D) and what profiles are made of (`topics`, P)."""

    name: str
    domains: tuple[str, ...]
    topics: tuple[str, ...]


SETTINGS = {
    "A": Setting("A", FOUR, NINETEEN),
    "B": Setting("B", ABSTRACTION, NINETEEN),
    "C": Setting("C", ABSTRACTION, FOUR),
}
"""The three settings of 000 §4 with D > P."""

EQUAL_SETTINGS = {
    "A": Setting("A, D = P", FOUR, FOUR),
    "B": Setting("B, D = P", NINETEEN, NINETEEN),
    "C": Setting("C, D = P", FOUR, FOUR),
}
"""The line D = P of each of the paper's figures: profiles are of the very topics that queries stay in."""


def categorise(wordnet: WordNet, topics: Sequence[str]) -> npt.NDArray[np.int16]:
    """ρ: number of the topic of every concept, OTHER if none; under several topics the nearest, then the first."""
    topic = np.full(len(wordnet), OTHER, np.int16)
    level = {wordnet.concept(name): i for i, name in reversed(list(enumerate(topics)))}
    for concept, i in level.items():
        topic[concept] = i
    while level:
        below: dict[int, int] = {}
        for concept, i in level.items():
            for child in wordnet.children(concept).tolist():
                if topic[child] == OTHER:
                    below[child] = min(i, below.get(child, i))
        for concept, i in below.items():
            topic[concept] = i
        level = below
    return topic
