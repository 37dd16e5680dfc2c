"""Networks are trained by configuration: the loss falls, held-out types are told; what is packed says the same."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config, registry
from thinc.api import Adam, fix_random_seed

from proxid.classify import corpora
from proxid.classify.architecture import feature_sum, frequent, keys, packed
from proxid.classify.feature_sum import Network, key_of
from proxid.classify.features import features
from proxid.classify.scoring import wilson
from proxid.classify.weights import Packed
from scripts.models.spacy_training import examples, trained

CONFIG = Path(corpora.__file__).resolve().parents[2] / "scripts" / "models" / "requests.cfg"
TYPES = ("command", "general", "location")
EVERY, HELD = 60, 4
"""One training utterance in so many is in the small corpus; of these one in so many is held out."""
TEXTS = [
    ["who", "wrote", "war", "and", "peace"],
    ["turn", "on", "the", "light"],
    ["who", "is", "in", "the", "light", "now"],
]


def small() -> list[tuple[str, str, str]]:
    """(text, intent, type) of a few training utterances."""
    kinds, rows = corpora.types(), corpora.training()[0]
    known = [(row, kinds.get((corpora.family(row), row.intent), "")) for row in rows]
    return [(row.text, f"{corpora.family(row)}:{row.intent}", kind) for row, kind in known if kind][::EVERY]


@registry.readers("proxid.SmallCorpus.v1")
def read_small(kept: bool) -> Callable[[Language], Iterator[Example]]:
    rows = [row for i, row in enumerate(small()) if (i % HELD == 0) == kept]
    intents = sorted({intent for _, intent, _ in rows})
    heads: dict[str, Any] = {
        "type": (TYPES, np.array([[kind == one for one in TYPES] for _, _, kind in rows], np.float32))
    }
    if not kept:
        heads["intent"] = intents, np.array([[name == one for one in intents] for _, name, _ in rows], np.float32)
    return lambda nlp: examples(nlp, [text for text, _, _ in rows], heads)


@registry.readers("proxid.SmallTypes.v1")
def read_types() -> dict[str, str]:
    return {intent: kind for _, intent, kind in small()}


@pytest.mark.slow
def test_the_configuration_of_requests_trains(tmp_path: Path) -> None:
    config = load_config(CONFIG)
    config["corpora"] = {
        name: {"@readers": "proxid.SmallCorpus.v1", "kept": name == "dev"} for name in ("train", "dev")
    }
    config["initialize"]["components"]["proxid_intent"]["types"] = {"@readers": "proxid.SmallTypes.v1"}
    config["components"]["proxid_intent"]["least"] = 1
    config["training"] |= {"max_epochs": 12}
    config["training"]["batcher"]["size"] = 32
    found: list[tuple[float, float]] = []

    @registry.loggers("proxid.Kept.v1")
    def kept() -> Callable[..., Any]:
        def told(info: Any) -> None:
            if info is not None:
                found.append((info["losses"]["proxid_intent"], info["score"]))

        return lambda *_: (told, lambda: None)

    config["training"]["logger"] = {"@loggers": "proxid.Kept.v1"}
    rows = small()
    nlp = trained(config, len(rows) - len(rows[::HELD]))
    held = rows[::HELD]
    # The first loss is of one step alone.
    losses = [loss for loss, _ in found[1:]]
    assert losses[-1] < losses[0] / 2
    commonest = max(sum(kind == one for _, _, kind in held) for one in TYPES) / len(held)
    assert wilson(round(found[-1][1] * len(held)), len(held))[0] > commonest
    nlp.to_disk(tmp_path)
    docs = [*nlp.pipe(text for text, _, _ in held[:20])]
    again = nlp.from_disk(tmp_path)
    assert [doc.cats for doc in again.pipe(text for text, _, _ in held[:20])] == [doc.cats for doc in docs]


@pytest.fixture
def model() -> Any:
    fix_random_seed(1)
    made = feature_sum(16, 0.0)
    made.get_ref("rows").attrs["keys"] = frequent(TEXTS, 1)
    made.initialize(Y=np.zeros((1, 5), np.float32))
    return made


def test_keys_are_those_of_the_features() -> None:
    assert sorted(keys(TEXTS[0])) == sorted(map(key_of, features(TEXTS[0])))
    assert frequent(TEXTS, 2).tolist() == sorted(
        {*keys(TEXTS[0])} & {*keys(TEXTS[2])} | {*keys(TEXTS[1])} & ({*keys(TEXTS[0])} | {*keys(TEXTS[2])})
    )


@pytest.mark.parametrize(("layer", "name"), [("rows", "E"), ("projection", "W"), ("projection", "b"), ("heads", "W")])
def test_gradients_are_the_slopes(model: Any, layer: str, name: str) -> None:
    given = np.random.default_rng(1).normal(size=(3, 5)).astype(np.float32)
    model.layers[0](TEXTS, is_train=True)[1](given)
    node = model.get_ref(layer)
    values, gradient = node.get_param(name), node.get_grad(name)
    place = np.unravel_index(np.abs(gradient).argmax(), gradient.shape)
    ends = []
    for step in (1e-3, -1e-3):
        moved = values.copy()
        moved[place] += step
        node.set_param(name, moved)
        ends.append(float((model.layers[0].predict(TEXTS) * given).sum()))
    assert (ends[0] - ends[1]) / 2e-3 == pytest.approx(float(gradient[place]), rel=0.02, abs=1e-2)


def test_what_is_packed_says_what_was_trained(model: Any) -> None:
    adam, given = Adam(0.02), np.random.default_rng(2).normal(size=(3, 5)).astype(np.float32)
    for _ in range(20):
        model.layers[0](TEXTS, is_train=True)[1](given)
        model.finish_update(adam)
    network = Network(packed(model, {"one": "ab", "other": "cde"}), ["one", "other"])
    outputs = model.layers[0].predict(TEXTS)
    # Rows have fourteen steps from end to end, and the shortest are left out.
    assert np.abs(network.scores(TEXTS)[0] - outputs).max() < 0.1 * np.abs(outputs).max()


def test_words_without_a_vector_get_a_row(model: Any) -> None:
    model.get_ref("means").attrs["more"] = {"zqxj": np.ones(128, np.float32)}
    stored = Packed.of(packed(model, {"one": "abcde"}))
    assert stored.places([key_of("zqxj")])[1].tolist() == [True]
