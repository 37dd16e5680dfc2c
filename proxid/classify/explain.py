"""Why the classifier decided as it did: rules that masked, words that moved the type, runners-up.

For the eyes of whoever typed the text: it shows the text itself, and belongs in no log.
"""

from typing import Any

from proxid.classify.categories import Categories
from proxid.classify.intents import ORDER
from proxid.classify.pipeline import Pipeline

LEFT_OUT = 60
"""Words of which each is left out once to see what it moves: enough for a request, and a long text costs no more."""


def explain(pipeline: Pipeline, text: str) -> dict[str, Any]:
    """What each stage saw and chose; `withheld` alone when the text could not be processed."""
    found = pipeline.read(text)
    if found is None:
        return {"withheld": "empty, too long, unreadable characters, or not English"}
    u, spans, words = found.utterance, found.spans or [], found.words
    assert u is not None
    intents, types = pipeline.intents.odds(words)
    top = sorted(range(len(intents)), key=lambda i: -float(intents[i]))[:3]
    best = types.index(max(types))
    result: dict[str, Any] = {
        "identifiers": [
            {"text": u.clean.shown[s.start : s.end], "kind": s.kind, "rule": s.rule} for s in spans
        ],
        "types": {str(kind): round(odds, 4) for kind, odds in zip(ORDER, types, strict=True)},
        "threshold": round(pipeline.threshold, 2),
        "intents": {pipeline.intents.classes[i]: round(float(intents[i]), 4) for i in top},
        "words": _moved(pipeline, words, best),
    }  # fmt: skip
    if isinstance(pipeline.categories, Categories):
        odds = pipeline.categories.odds(words)
        order = sorted(range(len(odds)), key=lambda i: -float(odds[i]))[:3]
        result["topics"] = {pipeline.categories.tops[i]: round(float(odds[i]), 4) for i in order}
    return result


def _moved(pipeline: Pipeline, words: list[str], best: int) -> dict[str, float]:
    """How much the odds of the chosen type fall when one of the first words is left out; the five that matter most."""
    whole = pipeline.intents.odds(words)[1][best]
    falls = {}
    for i, word in enumerate(words[:LEFT_OUT]):
        without = words[:i] + words[i + 1 :]
        falls[word] = round(whole - pipeline.intents.odds(without)[1][best], 4) if without else whole
    return dict(sorted(falls.items(), key=lambda item: -abs(item[1]))[:5])
