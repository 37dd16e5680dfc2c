"""Base forms of inflected words, by WordNet's exception list and its rules of detachment (morphy)."""

from proxid.ontology.wordnet import WordNet

NOUN_ENDINGS = [
    ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"), ("s", ""),
]  # fmt: skip


def noun_base(wordnet: WordNet, label: str) -> str | None:
    """The label, or the singular of it, that names a concept; None if there is none. Words part by `_`."""
    if label in wordnet.row:
        return label
    if (irregular := wordnet.exceptions.get(label)) in wordnet.row:
        return irregular
    head, _, last = label.rpartition("_")
    if (irregular := wordnet.exceptions.get(last)) is not None:
        return _known(wordnet, head, irregular)
    if last.endswith("ss") or len(last) < 3:
        return None
    for ending, instead in NOUN_ENDINGS:
        if last.endswith(ending):
            found = _known(wordnet, head, last[: -len(ending)] + instead)
            if found is not None:
                return found
    return None


def _known(wordnet: WordNet, head: str, last: str) -> str | None:
    label = f"{head}_{last}" if head else last
    return label if label in wordnet.row else None


def verb_bases(word: str) -> list[str]:
    """What a verb form may come from: offering -> offer, offere; running -> run; tries -> try."""
    if word.endswith("ies"):
        return [word[:-3] + "y"]
    for suffix in ("ing", "ed", "s"):
        stem = word.removesuffix(suffix)
        if stem != word and len(stem) >= 2:
            doubled = [stem[:-1]] if stem[-1] == stem[-2] else []
            return [stem, stem + "e", *doubled]
    return []
