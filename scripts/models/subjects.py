"""Trains the network that files a query under the IAB taxonomy; writes subjects.npz.

The teacher is a linear model over sentence vectors, fitted on category_train.tsv and on topics.txt's queries. The
network imitates it on these, on general queries of the corpora, and on questions about WordNet's nouns, so that it
has seen the words it will meet.
"""

import random
import re

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from proxid.classify import corpora
from proxid.ontology import wordnet
from scripts.models import teacher, topics
from scripts.models.network import Network, inputs, softmax, vocabulary
from scripts.models.output import SHIPPED, write_arrays
from scripts.models.training import fit, pack

Floats = NDArray[np.float32]
HIDDEN, EPOCHS, LEAST, SEED, SOFT, BATCH = 256, 10, 2, 2, 0.85, 256
NOUNS = 14_000
MORE_FILLS = 30
C, MADE_WEIGHT, REPEATS = 30, 0.2, 1
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
    report = corpora.report_texts()
    made = [text for text, _ in topics.queries(seed=SEED + 10, fills=MORE_FILLS)]
    texts = {*general_queries(), *noun_queries(random.Random(SEED)), *made} - set(labelled_texts)
    return sorted(text for text in texts if corpora.normal(text) not in report)


def labelled() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(text, tier-1) rows of category_train.tsv and (text, path) rows of topics.txt, without report texts."""
    report = corpora.report_texts()
    real = [(row["text"], row["iab_tier1"]) for row in corpora.category("category_train.tsv")]
    made = topics.queries() + filed_intents()
    return [r for r in real if corpora.normal(r[0]) not in report], [
        m for m in made if corpora.normal(m[0]) not in report
    ]


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


def main() -> None:
    """Fit the teacher, train the network, write."""
    real, made = labelled()
    texts = [text for text, _ in real + made]
    tops = [path.split("/")[0] for _, path in real + made]
    more = imitated(texts)
    vectors = np.vstack([teacher.vectors(texts), teacher.vectors(more)])
    weight = np.array([1.0] * len(real) + [MADE_WEIGHT] * len(made))
    guide = LogisticRegression(C=C, max_iter=200).fit(vectors[: len(texts)], tops, sample_weight=weight)
    classes = [str(name) for name in guide.classes_]
    top = guide.predict_proba(vectors).astype(np.float32)
    hard = one_hot(tops, {name: i for i, name in enumerate(classes)}, len(texts))
    top[: len(texts)] = SOFT * top[: len(texts)] + (1 - SOFT) * hard
    paths = sorted({path for _, path in made})
    node = np.zeros((len(vectors), len(paths)), np.float32)
    node[len(real) : len(texts)] = one_hot([p for _, p in made], {p: i for i, p in enumerate(paths)}, len(made))
    everything = texts + more
    order = list(range(len(everything))) + list(range(len(real))) * REPEATS
    vocab = vocabulary(everything, LEAST)
    batch = inputs(everything, vocab)

    def report(epoch: int, net: Network) -> None:
        guess = softmax(net.output("top", net.hidden(batch[np.arange(len(real))]))).argmax(axis=1)
        print(
            "subjects", epoch, f"fit {np.mean(np.array(classes)[guess] == np.array(tops[: len(real)])):.3f}", flush=True
        )

    net = fit(
        batch[order], {"top": top[order], "node": node[order]}, vectors[order], HIDDEN, EPOCHS, SEED, report, BATCH
    )
    write_arrays("subjects.npz", pack("subjects", net, vocab, {"top": classes, "node": paths}), SHIPPED)


if __name__ == "__main__":
    main()
