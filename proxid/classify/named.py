"""Filing a phrase under any ontology by the names of its nodes, and by WordNet's hypernyms where no node has its name.

What an operator's own ontology (an Open Directory dump, say) is used with: "tacos" has no node, but "dish" or "food"
above it may have one.
"""

from collections.abc import Sequence

from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.lexicon import lexicon
from proxid.classify.memory import WordMemory
from proxid.classify.ontology import MAX_LEVELS, Ontology
from proxid.ontology import wordnet
from proxid.ontology.morphology import noun_base

SENSES = 2
STEPS = 6
"""How far up the hypernyms a node is looked for; further up everything is an entity."""
LONGEST = 3
NO_TOPIC = ("NONE",)


class NamedCategories:
    """Paths of phrases in one ontology."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.phrase = WordMemory(self._phrase, load_gazetteer()).__getitem__

    def path(self, words: Sequence[str], masked: Sequence[str]) -> tuple[str, ...]:
        """Path of the longest phrase of the masked text that has one, the last one among equals: the head noun."""
        del words
        for n in range(min(LONGEST, len(masked)), 0, -1):
            for i in range(len(masked) - n, -1, -1):
                phrase = masked[i : i + n]
                if phrase[0] not in lexicon("stopwords") and phrase[-1] not in lexicon("stopwords"):
                    found = self.phrase(" ".join(phrase))
                    if found:
                        return found[:MAX_LEVELS]
        return NO_TOPIC

    def _phrase(self, phrase: str) -> tuple[str, ...]:
        """Path of one phrase: a node of its name, else of the nearest hypernym that has one; () without."""
        nodes = self.ontology.named(phrase)
        return nodes[0] if nodes else self._above(phrase)

    def _above(self, phrase: str) -> tuple[str, ...]:
        net = wordnet.load()
        base = noun_base(net, phrase.replace(" ", "_"))
        level = [] if base is None else net.senses(base).tolist()[:SENSES]
        for _ in range(STEPS):
            for concept in level:
                nodes = self.ontology.named(net.label(concept))
                if nodes:
                    return nodes[0]
            level = [parent for concept in level for parent in net.parents(concept).tolist()]
        return ()
