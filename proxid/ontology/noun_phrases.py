"""Noun phrases of a query: "stores offering the new Apple phones" -> stores | new apple phones (000 §3.4).

Parts of speech come from WordNet's tag counts and the words around, not from a trained tagger: a query is three
words long on average, so there is little context a tagger could use. Stop words, verbs and adverbs part phrases;
a phrase ends at its last noun. A word that WordNet does not know counts as a noun (a name, a new product).
"""

import re

from proxid.ontology.morphology import noun_base, verb_bases
from proxid.ontology.wordnet import WordNet

_DETERMINERS = "a an the my your his her its our their this that these those some any every no"
_FUNCTION_WORDS = """
    about above across after against all along also am among and another are around as at be because been before
    being below between both but by can could did do does doing down during each either else ever few for from get
    had has have having he hers herself him himself how i if in into is it itself just let lets many may me might mine
    more most much must myself near need neither nor not of off on one onto or other others otherwise ours out over own
    please same shall she should since so such tell than them themselves then there they through to too toward
    under until up upon us very via was we were what when where whether which while who whom whose why will with
    within without would yes yet you yours yourself
"""
DETERMINERS = frozenset(_DETERMINERS.split())
STOP_WORDS = DETERMINERS | frozenset(_FUNCTION_WORDS.split())
VERB_RATIO = 3
"""A word that may be a verb or a noun is taken as a verb when its verb readings are this many times as frequent:
queries name things, so the benefit of the doubt goes to the noun."""

_WORD = re.compile(r"[^\W_]+(?:[-&][^\W_]+)*")


def words(query: str) -> list[str]:
    """Lower-case words; possessive endings and punctuation are dropped."""
    return _WORD.findall(re.sub(r"['’]s?\b", "", query.lower()))


def _is_verb_form(wordnet: WordNet, word: str) -> bool:
    """An -ing, -ed or -s form of a word that is mostly a verb."""
    bases = (wordnet.tag_counts.get(base) for base in verb_bases(word))
    return any(c is not None and c[1] > c[0] for c in bases)


def part_of_speech(wordnet: WordNet, word: str, following: str | None) -> str:
    """`stop`, `noun`, `modifier` or `other` (verbs, adverbs)."""
    if word in STOP_WORDS:
        return "stop"
    if word.isdigit():
        return "modifier"
    nominal = noun_base(wordnet, word) is not None
    if _is_verb_form(wordnet, word):
        if not nominal:
            return "modifier" if word in wordnet.tag_counts and word.endswith(("ing", "ed")) else "other"
        return "other" if following in DETERMINERS and word.endswith("ing") else "noun"
    return _most_frequent(wordnet, word, nominal)


def _most_frequent(wordnet: WordNet, word: str, nominal: bool) -> str:
    noun, verb, adjective, adverb = wordnet.tag_counts.get(word, (0, 0, 0, 0))
    if max(adjective, adverb) > noun and max(adjective, adverb) >= verb:
        return "modifier" if adjective >= adverb else "other"
    verbal = verb > VERB_RATIO * max(noun, 1) or (verb > 0 and not nominal)
    return "other" if verbal else "noun"


def noun_phrases(wordnet: WordNet, query: str) -> list[list[str]]:
    """The noun phrases of a query, each a list of words without stop words, in their order."""
    tokens = words(query)
    phrases: list[list[str]] = []
    run: list[tuple[str, str]] = []
    for i, token in enumerate([*tokens, None]):
        following = tokens[i + 1] if i + 1 < len(tokens) else None
        kind = "stop" if token is None else part_of_speech(wordnet, token, following)
        if token is not None and kind in {"noun", "modifier"}:
            run.append((token, kind))
            continue
        while run and run[-1][1] != "noun":
            run.pop()
        if run:
            phrases.append([word for word, _ in run])
        run = []
    return phrases
