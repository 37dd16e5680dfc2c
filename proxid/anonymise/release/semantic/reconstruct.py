"""Make a query of a released concept (000 §3.4, changed; DESIGN 13).

The default puts the concept's label into a template that is drawn without looking at the data, so that the text
carries no more than the concept does. The paper's own way (`put_back`) restores the words and inflections of the
original around the new label: those words were never protected, and the release then has no guarantee at all.
"""

import numpy as np

from proxid.anonymise.release.semantic.exponential import RandomBytes, uniform_below
from proxid.ontology.concepts import MappedPhrase
from proxid.ontology.wordnet import WordNet

TEMPLATES = (
    "{}", "{}", "{}", "{}", "{}", "{} information", "what is {}", "best {}", "{} news", "about {}", "{} pictures",
    "{} near me",
)  # fmt: skip
"""Chosen uniformly: five in twelve are the bare label, about the share of one-concept queries in web logs."""


def from_templates(wordnet: WordNet, concepts: list[int], random: RandomBytes) -> list[str]:
    """A query for each released concept; reads nothing of the input."""
    chosen = uniform_below(np.full(len(concepts), len(TEMPLATES)), random).tolist()
    return [TEMPLATES[t].format(wordnet.label(c)) for t, c in zip(chosen, concepts, strict=True)]


def put_back(wordnet: WordNet, concept: int, phrase: MappedPhrase) -> str:
    """000 §3.4: the dropped modifiers in front again, and the plural if the original's head was one. No guarantee."""
    words = [*phrase.phrase[: phrase.dropped], wordnet.label(concept)]
    head, label = phrase.phrase[-1], wordnet.label(phrase.concept).split()[-1]
    plural = head != label and head.endswith("s") and not words[-1].endswith("s")
    return " ".join(words) + ("s" if plural else "")
