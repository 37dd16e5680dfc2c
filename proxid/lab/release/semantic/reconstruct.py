"""Make a query of a released concept (000 §3.4, changed; DESIGN 13).

The default puts the concept's label into a template that is drawn without looking at the data, so that the text
carries no more than the concept does. The paper's own way (`put_back`) restores the words and inflections of the
original around the new label: those words were never protected, and the release then has no guarantee at all.
"""

from collections.abc import Sequence

import numpy as np

from proxid.lab.concepts import MappedPhrase
from proxid.lab.release.semantic.exponential import RandomBytes, uniform_below
from proxid.ontology.noun_phrases import noun_phrases, words
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


def put_back(wordnet: WordNet, query: str, replaced: Sequence[tuple[MappedPhrase, int]]) -> str:
    """000 §3.4: the query again, with the new labels where the old concepts stood. No guarantee.

    replaced: its mapped phrases in order, each with its new concept. Modifiers, plurals, stop words and verbs of the
    original return; noun phrases that were not mapped do not.
    """
    tokens, result, at, left = words(query), [], 0, list(replaced)
    phrases = noun_phrases(wordnet, query)
    if left and list(left[0][0].phrase) not in phrases:  # the whole query was one label, such as "history of art"
        return wordnet.label(left[0][1])
    for phrase in phrases:
        start = next(i for i in range(at, len(tokens)) if tokens[i : i + len(phrase)] == phrase)
        result += tokens[at:start]
        if left and list(left[0][0].phrase) == phrase:
            result.append(_relabelled(wordnet, *left.pop(0)))
        at = start + len(phrase)
    return " ".join(result + tokens[at:])


def _relabelled(wordnet: WordNet, phrase: MappedPhrase, concept: int) -> str:
    """The dropped modifiers, the new label, and its plural if the original's head was one."""
    label, head = wordnet.label(concept), phrase.phrase[-1]
    plural = head.endswith("s") and head != wordnet.label(phrase.concept).split()[-1] and not label.endswith("s")
    return " ".join([*phrase.phrase[: phrase.dropped], label]) + ("s" if plural else "")
