"""More utterances for the networks to imitate the teacher on: slots exchanged between utterances, words left out."""

import random
import re

from proxid.classify import corpora

_SLOT = re.compile(r"\[(\w+) : ([^\]]+)\]")


def variants(rows: list[corpora.Row], seed: int = 5) -> list[str]:
    """New texts made from training utterances, none of which occurs in a report split; sorted."""
    rng = random.Random(seed)
    values: dict[str, list[str]] = {}
    for row in rows:
        for kind, words in _SLOT.findall(row.annotation):
            values.setdefault(kind, []).append(words.strip())
    made: set[str] = set()
    for row in rows:
        if _SLOT.search(row.annotation):
            for _ in range(2):
                made.add(_SLOT.sub(lambda m: rng.choice(values[m[1]]), row.annotation))
        words = row.text.split()
        if len(words) > 3:
            made.add(_shortened(words, rng))
    return sorted(text for text in made if text and not corpora.reported(text))


def parts(texts: list[str], seed: int = 6) -> list[tuple[str, str]]:
    """(part, whole) pairs: texts of four words or more with words left out, without report texts; one each."""
    rng = random.Random(seed)
    made = [(_shortened(words, rng), text) for text in texts if len(words := text.split()) > 3]
    return [(part, whole) for part, whole in made if part and not corpora.reported(part)]


def _shortened(words: list[str], rng: random.Random) -> str:
    chance = rng.random()
    if chance < 0.5:
        return " ".join(word for word in words if rng.random() > 0.2)
    if chance < 0.75:
        return " ".join(words[: rng.randrange(2, len(words))])
    return " ".join(words[rng.randrange(len(words) - 1) :])
