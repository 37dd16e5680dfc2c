"""Trains the network that tells intents, and with them the type of a request; writes its weights.

Its classes are the corpora's intents and groups of written utterances and of public questions (scripts.models.written). Targets mix these labels
with what a linear model over the teacher's sentence vectors says; variants without a label have the latter alone. A
second head learns the type; it is not shipped, but the hidden units are better for it. One utterance and question in twelve,
by the hash of its text, is held out: the temperature is chosen on these.
"""

import hashlib
import random
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from proxid.classify import corpora
from proxid.classify.intents import FLOOR, WRITTEN, Intents
from proxid.classify.weights import read_arrays
from scripts.models import augment, subjects, teacher, topics
from scripts.models.network import Network, inputs, softmax, vocabulary, words
from scripts.models.output import CURVE, INTENT, write_arrays, write_json
from scripts.models.training import fit, packed
from scripts.models.written import ASKED, groups, made, question_groups, written

Floats = NDArray[np.float32]
HIDDEN, EPOCHS, SOFT, LEAST, SEED, BATCH, LEVELS = 128, 10, 0.5, 3, 1, 256, 7
TYPES = ("command", "general", "location")
LEFT_OUT = {"clinc": frozenset({"clinc"}), "home": frozenset({"massive", "slurp", "nlu"})}
"""Sources that a network can be trained without, for figures of unseen ones, and the corpora of each."""
TYPED_WEIGHT, MADE_WEIGHT, REPEATS = 3.0, 1.0, 2
"""What a written example and a query of the topics count when the teacher of types is fitted; how often more the former
are trained on than other texts."""
GRID = np.arange(0.40, 0.91, 0.01)
QUESTION_PRIOR = 0.15
"""What the groups of public questions weigh at run time: they are many in training, and a network's odds hold for the
mixture that it was trained on (Saerens et al. 2002). Chosen on left-out sources (docs/models.md)."""
THRESHOLD = 0.5
"""A type is answered when it is likelier right than wrong (Chow 1970, where a rejection costs half of an error)."""


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


def membership(classes: list[str]) -> Floats:
    """Which type each intent or written group belongs to, one column a type; ambiguous intents belong to none."""
    mapping = corpora.types()
    table = np.zeros((len(classes), len(TYPES)), np.float32)
    for i, name in enumerate(classes):
        family, _, intent = name.partition(":")
        if (family, intent) in mapping:
            table[i, TYPES.index(mapping[family, intent])] = 1
        elif name.startswith(WRITTEN):
            table[i, TYPES.index(intent.split("_")[0])] = 1
    return table


def general_texts() -> list[str]:
    """Queries of no corpus, on which the network imitates the teacher alone: it has to know their words."""
    made = [query for query, _ in topics.queries()] + subjects.noun_queries(random.Random(SEED))[:8000]
    return [text for text in made if not corpora.reported(text)]


def train(without: frozenset[str], output: str, folder: Path) -> None:
    """Train on every source but those named, calibrate, write."""
    rows = unique(corpora.training(without=without)[0])
    fitting, keeping = [r for r in rows if not held(r.text)], [r for r in rows if held(r.text)]
    typed, queries, asked = written(), made(), corpora.questions()[0]
    texts, vectors = encoded(fitting, typed, asked)
    first, marked = len(fitting), len(fitting) + len(typed)
    told = marked + sum(not held(text) for text in asked)
    labels = [label(row) for row in fitting] + groups(typed, vectors[first:marked])
    labels += question_groups(vectors[marked:told])
    soft, classes = class_targets(labels, vectors)
    general = dict.fromkeys(asked, "general")
    kinds = type_targets(
        fitting, general | dict(queries) | dict(typed), frozenset(text for text, _ in typed), texts, vectors
    )
    order = list(range(len(texts))) + list(range(first, marked)) * REPEATS
    vocab = vocabulary(texts, LEAST)
    table, truth = membership(classes), np.array([_type(row) for row in keeping])
    keep_batch = inputs([row.text for row in keeping], vocab)

    def report(epoch: int, net: Network) -> None:
        # Nearly as at run time, where written groups count less.
        odds = softmax(net.output("intent", net.hidden(keep_batch))) @ table
        right = np.array(TYPES)[odds.argmax(axis=1)] == truth
        print(output, epoch, f"held-out type accuracy {right[truth != ''].mean():.4f}", flush=True)

    targets = {"intent": soft[order], "type": kinds[order]}
    net = fit(inputs(texts, vocab)[order], targets, vectors[order], HIDDEN, EPOCHS, SEED, report, BATCH)
    arrays = packed(net, vocab, {"intent": classes}, LEVELS)
    asked_groups = np.array([name.startswith(ASKED) for name in classes], np.float32)
    arrays["intent.bias"] += np.float32(np.log(QUESTION_PRIOR)) * asked_groups
    arrays["types"] = table.astype(np.int8)
    arrays["calibration"] = np.array([1.0, 0.5], np.float32)
    write_arrays(output, arrays, folder)
    facts = {"utterances": len(fitting), "variants": len(texts) - len(fitting), "features": len(vocab)}
    mixture = [(row.text, kind) for row in keeping if (kind := _type(row))]
    calibrated(output, folder, mixture + [(text, "general") for text in asked if held(text)], facts)


def calibrated(output: str, folder: Path, keeping: list[tuple[str, str]], facts: dict[str, int]) -> None:
    """Calibrate the written network, as it is read at run time, on the held-out (text, type) pairs; write it again."""
    arrays = read_arrays(folder / output)
    intents = Intents(arrays)
    mixture = np.array([intents.mixture(words(text)) for text, _ in keeping])
    temperature, curve = calibrate(mixture, np.array([kind for _, kind in keeping]))
    arrays["calibration"] = np.array([temperature, THRESHOLD], np.float32)
    write_arrays(output, arrays, folder)
    found = {"temperature": temperature, "threshold": THRESHOLD, "risk_coverage": curve}
    path = CURVE if folder == INTENT else (folder / output).with_suffix(".json")
    write_json(path.name, found | facts, path.parent)


def encoded(fitting: list[corpora.Row], typed: list[tuple[str, str]], asked: list[str]) -> tuple[list[str], Floats]:
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
    fit_asked = [text for text in asked if not held(text)]
    for more in (fit_asked, [part for part, _ in augment.parts(typed_texts)]):
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
    if len(sys.argv) == 3 and sys.argv[1] in LEFT_OUT:
        path = Path(sys.argv[2])
        train(LEFT_OUT[sys.argv[1]], path.name, path.parent)
    else:
        train(frozenset(), "weights.npz", INTENT)


if __name__ == "__main__":
    main()
