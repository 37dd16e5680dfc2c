"""Category paths of concepts: "disease/respiratory disease/asthma", a tree as 001 and 002 take from a directory."""

from collections.abc import Sequence

from proxid.lab.release.semantic.topics import OTHER, categorise
from proxid.ontology.wordnet import WordNet


class ConceptPaths:
    """Paths that begin at the nearest of some top concepts; concepts under none begin below WordNet's root."""

    def __init__(self, wordnet: WordNet, tops: Sequence[str]) -> None:
        self._wordnet = wordnet
        self._top_of = categorise(wordnet, tops)
        self._tops = {wordnet.concept(name) for name in tops}

    def __call__(self, concept: int) -> str:
        """Labels from the top down to the concept, `/` between them."""
        labels = [self._label(concept)]
        while concept not in self._tops and (above := self._above(concept)) is not None:
            concept = above
            labels.append(self._label(concept))
        return "/".join(reversed(labels))

    def _label(self, concept: int) -> str:
        return self._wordnet.label(concept).replace("/", " ").replace("|", " ")

    def _above(self, concept: int) -> int | None:
        """The hypernym on the way to the concept's top, else the first one that is not the root."""
        parents = self._wordnet.parents(concept).tolist()
        if self._top_of[concept] != OTHER:
            parents = [p for p in parents if self._top_of[p] == self._top_of[concept]]
        return next((p for p in parents if len(self._wordnet.parents(p))), None)
