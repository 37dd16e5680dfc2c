"""Utterances written for this project by type, and the groups of them that the network learns beside the intents.

A corpus's intents say nothing of requests of another kind: a network that knows only these files a question about a bank
account under the intent with the most words in common. Each type's written utterances are therefore dealt into groups
by the teacher's vectors, and each group is a class like an intent, with a type and no place in the intent tree. So are the groups of public questions, which are general.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from proxid.classify import corpora
from proxid.classify.intents import PUBLIC, WRITTEN
from scripts.models import topics

GROUPS, TRIALS = 12, 2
"""Groups of a type; starts of the clustering, of which the best is taken."""
WEATHER = ("weather", "rain", "snow", "temperature")


def written() -> list[tuple[str, str]]:
    """(utterance, type) pairs written for this project: type_examples.txt and the larger types_written.txt."""
    pairs, kind = [], ""
    for line in (Path(__file__).parent / "type_examples.txt").read_text().splitlines():
        if line.startswith("@"):
            kind = line[1:]
        elif line and not line.startswith("#") and not corpora.reported(line):
            pairs.append((line, kind))
    return pairs + corpora.written_types()


def groups(typed: list[tuple[str, str]], vectors: NDArray[np.float32]) -> list[str]:
    """The class of each written utterance, `written:<type>_<number>`; `vectors` has the teacher's, one row each."""
    result = [""] * len(typed)
    for kind in sorted({kind for _, kind in typed}):
        rows = [i for i, (_, other) in enumerate(typed) if other == kind]
        found = KMeans(GROUPS, n_init=TRIALS, random_state=0).fit_predict(vectors[rows])
        for row, number in zip(rows, found.tolist(), strict=True):
            result[row] = f"{WRITTEN}{kind}_{number}"
    return result


def question_groups(vectors: NDArray[np.float32]) -> list[str]:
    """The class of each public question, PUBLIC and a number; `vectors` has the teacher's, one row each."""
    found = KMeans(GROUPS, n_init=TRIALS, random_state=0).fit_predict(vectors)
    return [f"{PUBLIC}{number}" for number in found.tolist()]


def made() -> list[tuple[str, str]]:
    """The topics' queries, which are general."""
    queries = [text for text, path in topics.queries() if path != "NONE" and not any(word in text for word in WEATHER)]
    return [(text, "general") for text in queries if not corpora.reported(text)]
