"""Trains the network that tells intents, and with them the type of a request; writes its weights.

Its classes are the corpora's intents and groups of written utterances and of public questions (scripts.models.written). Targets mix these labels
with what a linear model over the teacher's sentence vectors says; variants without a label have the latter alone. A
second head learns the type, a third the teacher's vector; they are not shipped, but the hidden units are better for
them. requests.cfg says how spaCy trains. One utterance and question in twelve, by the hash of its text, is held out:
the temperature is chosen on these.
"""

import hashlib
import random
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config, registry

from proxid.classify import corpora
from proxid.classify.intents import FLOOR, ORDER, PUBLIC, THRESHOLD, WRITTEN, Intents
from proxid.classify.weights import to_bytes
from scripts.models import augment, subjects, teacher, topics
from scripts.models.output import CURVE, INTENT, write_json
from scripts.models.spacy_training import examples, softmax, trained, words
from scripts.models.written import groups, made, question_groups, written

Floats = NDArray[np.float32]
CONFIG = Path(__file__).with_suffix(".cfg")
SOFT, SEED = 0.5, 1
TYPES = tuple(map(str, ORDER))
LEFT_OUT = {"clinc": frozenset({"clinc"}), "home": frozenset({"massive", "slurp", "nlu"})}
"""Sources that a network can be trained without, for figures of unseen ones, and the corpora of each."""
TYPED_WEIGHT, MADE_WEIGHT, REPEATS = 3.0, 1.0, 2
"""What a written example and a query of the topics count when the teacher of types is fitted; how often more the former
are trained on than other texts."""
FILED = ("category_train.tsv", "category_nq.tsv", "category_written.tsv")
GRID = np.arange(0.40, 0.91, 0.01)
QUESTION_PRIOR = 0.3
"""What the groups of public questions weigh at run time: they are many in training, and a network's odds hold for the
mixture that it was trained on (Saerens et al. 2002). Chosen on left-out sources (docs/models.md)."""


def unique(rows: list[corpora.Row]) -> list[corpora.Row]:
    """One row for each text and family."""
    seen: set[tuple[str, str]] = set()
    result = []
    for row in rows:
        key = (corpora.family(row), corpora.letters(row.text))
        if key not in seen and key[1] and row.intent != "music":
            seen.add(key)
            result.append(row)
    return result


def label(row: corpora.Row) -> str:
    """Family and intent: `home:alarm_set`."""
    return f"{corpora.family(row)}:{row.intent}"


def held(text: str) -> bool:
    """Whether a training utterance is kept for calibration."""
    return int(hashlib.md5(corpora.letters(text).encode(), usedforsecurity=False).hexdigest(), 16) % 12 == 0


def type_of(name: str) -> str:
    """The type of an intent or group; "" of an intent that has none."""
    family, _, intent = name.partition(":")
    return intent.split("_")[0] if name.startswith(WRITTEN) else corpora.types().get((family, intent), "")


def general_questions() -> tuple[list[str], list[str]]:
    """Questions that are general by definition: the public ones; queries that were filed for the network of topics."""
    asked = corpora.questions()[0]
    filed = [row["text"] for row in corpora.category(FILED[0]) if not corpora.reported(row["text"])]
    filed += [text for name in FILED[1:] for text, _ in corpora.labelled(name)]
    known = {corpora.letters(row.text) for row in corpora.training()[0]} | {*map(corpora.letters, asked)}
    kept = corpora.questions()[1]
    free = corpora.apart(filed, kept)
    return asked, [text for text, ok in zip(filed, free, strict=True) if ok and corpora.letters(text) not in known]


def general_texts() -> list[str]:
    """Queries of no corpus, on which the network imitates the teacher alone: it has to know their words."""
    made = [query for query, _ in topics.queries()] + subjects.noun_queries(random.Random(SEED))[:8000]
    return [text for text in made if not corpora.reported(text)]


class Material(NamedTuple):
    """What a network trains on.

    texts: labelled ones first, written ones again at the end. intents, kinds: targets of each text, by `classes` and TYPES.
    types: of the classes that have one. held: (text, type) pairs to calibrate on.
    """

    texts: list[str]
    classes: list[str]
    intents: Floats
    kinds: Floats
    vectors: Floats
    types: dict[str, str]
    held: list[tuple[str, str]]


@cache
def material(source: str) -> Material:
    """Everything to train on without a source of LEFT_OUT; "" is the shipped network's."""
    rows = unique(corpora.training(without=LEFT_OUT.get(source, frozenset()))[0])
    fitting, keeping = [r for r in rows if not held(r.text)], [r for r in rows if held(r.text)]
    typed, queries, asked = written(), made(), general_questions()
    learnt = [[text for text in texts if not held(text)] for texts in asked]
    texts, vectors = encoded(fitting, typed, learnt)
    first, marked = len(fitting), len(fitting) + len(typed)
    told = marked + sum(map(len, learnt))
    labels = [label(row) for row in fitting] + groups(typed, vectors[first:marked])
    labels += question_groups(vectors[marked:told])
    soft, classes = class_targets(labels, vectors)
    known = dict.fromkeys(chain(*asked), "general") | dict(queries) | dict(typed)
    kinds = type_targets(fitting, known, frozenset(text for text, _ in typed), texts, vectors)
    order = list(range(len(texts))) + list(range(first, marked)) * REPEATS
    pairs = [(row.text, kind) for row in keeping if (kind := _type(row))]
    pairs += [(text, "general") for text in chain(*asked) if held(text)]
    types = {name: kind for name in classes if (kind := type_of(name))}
    return Material([texts[i] for i in order], classes, soft[order], kinds[order], vectors[order], types, pairs)


@registry.readers("proxid.Requests.v1")
def read_requests(without: str, kept: bool) -> Callable[[Language], Iterator[Example]]:
    """Examples to train on, or those that are held out."""

    def read(nlp: Language) -> Iterator[Example]:
        m = material(without)
        if not kept:
            heads = {"intent": (m.classes, m.intents), "type": (TYPES, m.kinds)}
            return examples(nlp, m.texts, heads, m.vectors)
        wanted = np.array([[kind == name for name in TYPES] for _, kind in m.held], np.float32)
        return examples(nlp, [text for text, _ in m.held], {"type": (TYPES, wanted)})

    return read


@registry.readers("proxid.Types.v1")
def read_types(without: str) -> dict[str, str]:
    """The type of each class that has one."""
    return material(without).types


def train(source: str, path: Path) -> None:
    """Train without a source, weigh the questions, calibrate, write."""
    m = material(source)
    config = load_config(CONFIG, overrides={"corpora.train.without": source})
    nlp = trained(config, len(m.texts))
    finished(nlp.get_pipe("proxid_intent").arrays, m, path)  # type: ignore[attr-defined]


def finished(arrays: dict[str, Any], m: Material, path: Path) -> None:
    """Weigh the questions and calibrate, as the network is read at run time, on the held-out texts; write."""
    asked = np.array([name.startswith(PUBLIC) for name in m.classes], np.float32)
    arrays["intent.bias"] = arrays["intent.bias"] + np.float32(np.log(QUESTION_PRIOR)) * asked
    intents = Intents(arrays)
    mixture = np.array([intents.mixture(words(text)) for text, _ in m.held])
    temperature, curve = calibrate(mixture, np.array([kind for _, kind in m.held]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_bytes(arrays | {"calibration": np.array([temperature], np.float32)}))
    facts = {"texts": len(m.texts), "held": len(m.held), "features": len(arrays["keys"])}
    where = CURVE if path.parent == INTENT else path.with_suffix(".json")
    write_json(
        where.name, {"temperature": temperature, "threshold": THRESHOLD, "risk_coverage": curve} | facts, where.parent
    )


def encoded(
    fitting: list[corpora.Row], typed: list[tuple[str, str]], asked: list[list[str]]
) -> tuple[list[str], Floats]:
    """All texts that a run trains on, labelled ones first, and the teacher's vectors of them.

    The teacher reads the same lists in every run: all training utterances, the examples and parts of them, the variants
    of one family, queries of no corpus.
    """
    everything = [row.text for row in unique(corpora.training()[0]) if not held(row.text)]
    at = {text: i for i, text in enumerate(everything)}
    texts = [row.text for row in fitting]
    blocks = [teacher.vectors(everything)[[at[text] for text in texts]]]
    typed_texts = [text for text, _ in typed]
    texts += typed_texts
    blocks.append(teacher.vectors(typed_texts))
    for more in (*asked, [part for part, _ in augment.parts(typed_texts)]):
        texts += more
        blocks.append(teacher.vectors(more))
    for family in ("clinc", "home"):
        rows = [row for row in fitting if corpora.family(row) == family]
        if rows:
            more = augment.variants(rows)
            texts += more
            blocks.append(teacher.vectors(more))
    more = sorted(set(general_texts()))
    return texts + more, np.vstack([*blocks, teacher.vectors(more)])


def class_targets(labels: list[str], vectors: Floats) -> tuple[Floats, list[str]]:
    """Soft targets of the intent head and its classes; `labels` are those of the first texts, the others have none."""
    guide = LogisticRegression(C=10, max_iter=150).fit(vectors[: len(labels)], labels)
    classes = [str(name) for name in guide.classes_]
    soft = guide.predict_proba(vectors).astype(np.float32)
    soft[: len(labels)] *= SOFT
    index = {name: i for i, name in enumerate(classes)}
    soft[np.arange(len(labels)), [index[name] for name in labels]] += 1 - SOFT
    return soft, classes


def type_targets(
    fitting: list[corpora.Row], known: dict[str, str], typed: frozenset[str], texts: list[str], vectors: Floats
) -> Floats:
    """Soft targets of the type head: the labels, mixed with a linear teacher of types; the teacher alone for variants."""
    labels = [_type(row) for row in fitting] + [known.get(text, "") for text in texts[len(fitting) :]]
    marked = [i for i, kind in enumerate(labels) if kind]
    weight = [1.0 if i < len(fitting) else TYPED_WEIGHT if texts[i] in typed else MADE_WEIGHT for i in marked]
    guide = LogisticRegression(C=1, max_iter=150).fit(
        vectors[marked], [labels[i] for i in marked], sample_weight=weight
    )
    soft = guide.predict_proba(vectors).astype(np.float32)
    soft[marked] *= SOFT
    soft[marked, [TYPES.index(labels[i]) for i in marked]] += 1 - SOFT
    result: Floats = soft
    return result


def _type(row: corpora.Row) -> str:
    return corpora.types().get((corpora.family(row), row.intent), "")


def calibrate(mixture: Floats, truth: NDArray[np.str_]) -> tuple[float, list[list[float]]]:
    """Temperature of least log loss, and (threshold, coverage, risk) triples."""
    wanted = np.array([TYPES.index(kind) for kind in truth])

    def odds(temperature: float) -> Floats:
        return softmax((np.log(mixture + FLOOR) / temperature).astype(np.float32))

    def loss(temperature: float) -> float:
        return float(-np.log(odds(temperature)[np.arange(len(wanted)), wanted] + 1e-9).mean())

    temperature = min((round(float(t), 2) for t in np.arange(0.6, 3.01, 0.05)), key=loss)
    final = odds(temperature)
    confidence, right = final.max(axis=1), final.argmax(axis=1) == wanted
    curve = [[round(float(t), 2), round(float((confidence >= t).mean()), 4),
              round(float(1 - right[confidence >= t].mean()), 4)] for t in GRID]  # fmt: skip
    return temperature, curve


def main() -> None:
    """Train the shipped network, or with arguments SOURCE PATH one without a source (bench/classify/left_out.py)."""
    source, path = sys.argv[1:3] if len(sys.argv) == 3 and sys.argv[1] in LEFT_OUT else ("", INTENT / "weights.npz")
    train(source, Path(path))


if __name__ == "__main__":
    main()
