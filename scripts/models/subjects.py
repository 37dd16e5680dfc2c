"""Trains the network that files a query under the IAB taxonomy; writes its weights.

The teacher (guide.py) reads sentence vectors; it knows the labelled queries (category_train.tsv, those of
corpora.LABELLED) and topics.txt's. The network learns these, and imitates the teacher on them, on parts of them, on general
queries of the corpora, on questions about WordNet's nouns and on those of asked.py, so that it has seen the words it will
meet; rare.py has vectors of words that words.npz lacks. subjects.cfg says how spaCy trains.
"""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config, registry

from proxid.classify import corpora
from proxid.classify.components.networks import Topic
from proxid.ontology import wordnet
from scripts.models import asked, augment, guide, rare, teacher, topics
from scripts.models.output import TOPIC
from scripts.models.spacy_training import examples, trained

Floats = NDArray[np.float32]
SEED, FIRST_SPLIT, JUDGED = 2, 100, 2000
CONFIG = Path(__file__).with_suffix(".cfg")
SOFT, SOFT_MADE, SOFT_NAMES = 0.2, 0.85, 0.3
"""Share of the teacher in the targets of labelled and of made queries, and of those about names; the rest is the label."""
NOUNS = 14_000
MORE_FILLS = 30
WEIGHTS = {
    "category_train.tsv": 2.0,
    "category_nq.tsv": 1.0,
    "category_assistant.tsv": 1.0,
    "category_written.tsv": 0.5,
    "category_questions.tsv.gz": 1.0,
}
UNCUT = {"category_questions.tsv.gz"}
"""Files whose queries are not learnt in parts besides."""
MADE_WEIGHT = 0.1
"""What a query of each source counts when the teacher is fitted, chosen by cross-validation on category_train.tsv."""
ASKED = (
    "what is {}",
    "tell me about {}",
    "{}",
    "define {}",
    "how does {} work",
    "what are the best {}",
    "where can i find {}",
)


def general_queries() -> list[str]:
    """Distinct general queries of the corpora."""
    kinds = corpora.types()
    rows = corpora.training()[0]
    return sorted({r.text for r in rows if kinds.get((corpora.family(r), r.intent)) == "general"})


def noun_queries(rng: random.Random) -> list[str]:
    """Questions about nouns drawn from WordNet."""
    lemmas = [lemma.replace("_", " ") for lemma in wordnet.load().lemmas if re.fullmatch(r"[a-z_]{3,24}", lemma)]
    return sorted({rng.choice(ASKED).format(lemma) for lemma in rng.sample(lemmas, NOUNS)})


def imitated(labelled_texts: list[str]) -> list[str]:
    """Texts without a label, on which the network imitates the teacher alone."""
    made = [text for text, _ in topics.queries(seed=SEED + 10, fills=MORE_FILLS)]
    texts = {*general_queries(), *noun_queries(random.Random(SEED)), *made} - set(labelled_texts)
    return sorted(text for text in texts if not corpora.reported(text))


def labelled() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(text, tier-1) rows of category_train.tsv and (text, path) rows of topics.txt, without report texts."""
    real = [(row["text"], row["iab_tier1"]) for row in corpora.category("category_train.tsv")]
    made = topics.queries() + filed_intents()
    return [r for r in real if not corpora.reported(r[0])], [m for m in made if not corpora.reported(m[0])]


INTENTS = {
    "Food & Drink": "clinc:recipe clinc:calories clinc:nutrition_info clinc:ingredients_list clinc:ingredient_substitution clinc:cook_time "
                    "clinc:food_last clinc:meal_suggestion home:cooking_recipe home:cooking_query",
    "Education": "clinc:definition clinc:spelling clinc:translate clinc:calculator clinc:measurement_conversion home:qa_definition home:qa_maths",
    "Business and Finance": "clinc:exchange_rate home:qa_currency home:qa_stock",
    "Automotive": "clinc:oil_change_how clinc:jump_start clinc:tire_change",
    "Medical Health": "clinc:vaccines",
    "Personal Finance": "clinc:improve_credit_score clinc:rollover_401k",
    "Travel": "clinc:plug_type clinc:international_visa",
    "Holidays": "clinc:next_holiday",
    "Pop Culture": "clinc:tell_joke home:general_joke",
    "Religion & Spirituality": "clinc:meaning_of_life",
    "Entertainment": "home:recommendation_movies",
    "NONE": "clinc:time clinc:date clinc:timezone home:datetime_query home:datetime_convert clinc:carry_on",
}  # fmt: skip
"""General intents whose utterances all lie under one tier-1."""
EACH = 25


def filed_intents() -> list[tuple[str, str]]:
    """(text, tier-1) of up to EACH utterances of each intent in INTENTS."""
    where = {intent: top for top, names in INTENTS.items() for intent in names.split()}
    taken: dict[str, int] = {}
    found: dict[str, str] = {}
    for row in corpora.training()[0]:
        name = f"{corpora.family(row)}:{row.intent}"
        if name in where and taken.get(name, 0) < EACH and row.text not in found:
            taken[name] = taken.get(name, 0) + 1
            found[row.text] = where[name]
    return list(found.items())


def one_hot(names: list[str], index: dict[str, int], rows: int) -> Floats:
    """Hard targets for the first `len(names)` of `rows` rows."""
    table = np.zeros((rows, len(index)), np.float32)
    table[np.arange(len(names)), [index[name] for name in names]] = 1
    return table


@dataclass(slots=True)
class Material:
    """What the network trains on: texts (labelled ones first, made ones, those without a label, those about names)."""

    texts: list[str]
    tops: list[str]
    """Tier-1 of the labelled and the made texts."""
    weights: list[float]
    real: int
    """How many are labelled; the made ones follow."""
    paths: list[str]
    """Paths of the made texts."""
    named: list[str]
    """Tier-1 of the last texts, those about names: labels that the teacher does not see."""
    vectors: Floats


def material(without: frozenset[str] = frozenset()) -> Material:
    """Everything to train on, but for the labelled queries in `without` (kept out for cross-validation) and what resembles them."""
    train, made = labelled()
    files = {"category_train.tsv": train} | {name: corpora.labelled(name) for name in corpora.LABELLED}
    parts = augment.parts([text for name, rows in files.items() if name not in UNCUT for text, _ in rows])
    names, told = asked.names(), asked.instances()
    texts, tops, weights, blocks = list[str](), list[str](), list[float](), list[Floats]()

    def add(shown: list[str], read: list[str] | None = None, origin: list[str] | None = None) -> list[int]:
        """Add texts, and what the teacher reads, unless a text or its origin is kept out; the rows that are in."""
        free = zip(corpora.apart(shown, without), corpora.apart(origin or shown, without), strict=True)
        rows = [i for i, both in enumerate(free) if all(both)]
        texts.extend(shown[i] for i in rows)
        blocks.append(teacher.vectors(read or shown)[rows])
        return rows

    for name, pairs in files.items():
        rows = add([text for text, _ in pairs])
        tops += [pairs[i][1] for i in rows]
        weights += [WEIGHTS[name]] * len(rows)
    real = len(tops)
    paths = [made[i][1] for i in add([text for text, _ in made])]
    add(imitated([text for text, _ in train + made]))
    add([part for part, _ in parts], origin=[whole for _, whole in parts])
    add(asked.definitions())
    add([text for text, _ in told], read=[full for _, full in told])
    named = [names[i][1] for i in add([text for text, _ in names])]
    tops += [path.split("/")[0] for path in paths]
    weights += [MADE_WEIGHT] * len(paths)
    return Material(texts, tops, weights, real, paths, named, np.vstack(blocks))


class Targets(NamedTuple):
    """Classes of both heads, and the targets of each text."""

    tops: list[str]
    top: Floats
    paths: list[str]
    node: Floats


def targets(m: Material) -> Targets:
    """What the network is to say: labels mixed with the teacher, or the teacher alone."""
    count = len(m.tops)
    classes, top = guide.odds(m.vectors, m.tops, m.weights, m.real)
    soft = np.where(np.arange(count) < m.real, SOFT, SOFT_MADE).astype(np.float32)[:, None]
    index = {name: i for i, name in enumerate(classes)}
    top[:count] = soft * top[:count] + (1 - soft) * one_hot(m.tops, index, count)
    hard = one_hot(m.named, index, len(m.named))
    top[len(top) - len(hard) :] = SOFT_NAMES * top[len(top) - len(hard) :] + (1 - SOFT_NAMES) * hard
    paths = sorted(set(m.paths))
    node = np.zeros((len(m.vectors), len(paths)), np.float32)
    node[m.real : count] = one_hot(m.paths, {p: i for i, p in enumerate(paths)}, len(m.paths))
    return Targets(classes, top, paths, node)


def half(split: int, which: int) -> list[tuple[str, str]]:
    """The labelled queries of one half of category_train.tsv, for cross-validation."""
    rows = labelled()[0]
    part = np.random.default_rng(FIRST_SPLIT + split).permutation(len(rows)) % 2
    return [rows[i] for i in np.flatnonzero(part == which)]


@cache
def learnt(held: tuple[int, ...]) -> Material:
    """Everything, or everything apart from a half (SPLIT, HALF)."""
    return material(frozenset(text for text, _ in half(*held)) if held else frozenset())


@registry.readers("proxid.Topics.v1")
def read_topics(held: list[int], kept: bool) -> Callable[[Language], Iterator[Example]]:
    """Examples to train on, or those to be judged by: the held half, or else the labelled ones that train."""

    def read(nlp: Language) -> Iterator[Example]:
        m = learnt(tuple(held))
        if not kept:
            t = targets(m)
            return examples(nlp, m.texts, {"top": (t.tops, t.top), "node": (t.paths, t.node)}, m.vectors)
        pairs = half(*held) if held else list(zip(m.texts[:JUDGED], m.tops, strict=False))
        tops = sorted({top for _, top in pairs})
        wanted = one_hot([top for _, top in pairs], {top: i for i, top in enumerate(tops)}, len(pairs))
        return examples(nlp, [text for text, _ in pairs], {"top": (tops, wanted)})

    return read


@registry.readers("proxid.RareVectors.v1")
def read_vectors(held: list[int]) -> dict[str, Floats]:
    """Vectors of the words that words.npz lacks."""
    return rare.vectors(learnt(tuple(held)).texts)


def train(held: list[int]) -> Topic:
    """The trained component."""
    config = load_config(CONFIG, overrides={"corpora.train.held": held})
    nlp = trained(config, len(learnt(tuple(held)).texts))
    return cast(Topic, nlp.get_pipe("proxid_topic"))


def main() -> None:
    """Fit the teacher, train the network, write."""
    (TOPIC / "weights.npz").write_bytes(train([]).to_bytes())


if __name__ == "__main__":
    main()
