"""`proxid.FeatureSum.v1`: the architecture of the networks of `en_proxid`, which takes lists of Docs.

It is trained as layers of thinc, and answers as what these are packed to (feature_sum.py: few levels a number, the same
bits alone and in batches).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import sqrt
from typing import Any, Final, cast

import numpy as np
from spacy.strings import hash_string  # type: ignore[attr-defined]
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Dropout, Linear, Model, add, chain
from thinc.initializers import uniform_init

from proxid.classify.feature_sum import Network, key_of, phrases
from proxid.classify.features import pieces
from proxid.classify.state import state_of
from proxid.classify.vectors import load as load_vectors
from proxid.classify.weights import Floats, Keys, pack, text_array

Texts = Sequence[Sequence[str]]
Layer = Model[Texts, Floats]
Back = Callable[[Floats], Any]
LEVELS: Final = 7
"""Steps of a packed row to each side of zero: four bits a number."""
SHORTEST: Final = 0.08
"""Share of the rows that packing leaves out: the shortest ones, which say least."""
FEATURES_OF_A_WORD: Final = 3.6
"""Root of the features that a word has on average: a text's words count over the root of their number, its rows over
the root of the number of features."""


@registry.architectures("proxid.FeatureSum.v1")  # type: ignore[untyped-decorator]
def feature_sum(width: int = 128, left_out: float = 0.15) -> Model[list[Doc], Floats]:
    """Docs -> linear outputs of the heads, one row a Doc; the component that owns it says what the heads are.

    Args:
        width: of the hidden layer, 128 at most (feature_sum.UNIT).
        left_out: share of the features that training leaves out at random: the fewer are kept, the more the word
            vectors count.
    """
    rows, means = _sum_of_rows(width, left_out), _word_means()
    projection, heads = Linear(width, load_vectors().size), Linear(nI=width)
    join: Any = chain
    hidden = join(add(rows, join(means, projection)), _relu(), Dropout(), heads)
    parts: dict[str, Any] = {"rows": rows, "means": means, "projection": projection, "heads": heads}
    return Model("feature_sum", _forward, init=_init, layers=[hidden], refs=parts, attrs={"network": None})


def _forward(model: Model[list[Doc], Floats], docs: list[Doc], is_train: bool) -> tuple[Any, Back]:
    states = [*map(state_of, docs)]
    words = [state.words for state in states]
    if is_train:
        scores, back = model.layers[0](words, is_train=True)
        return scores, lambda gradient: back(gradient) and docs
    network: Network = model.attrs["network"]
    told, seen = network.scores(words)
    for state, share in zip(states, seen, strict=True):
        state.seen = share
    return told, lambda _: docs


def _init(model: Model[list[Doc], Floats], X: Any = None, Y: Any = None) -> None:
    heads = model.get_ref("heads")
    heads.set_dim("nO", Y.shape[1], force=True)
    for part in (model.get_ref("rows"), model.get_ref("projection"), heads):
        part.initialize()


@cache
def _word(word: str) -> tuple[int, tuple[int, ...]]:
    """Hash of a word of the training texts, and the keys of its features."""
    return int(hash_string(word)), tuple(map(key_of, (word, *pieces(word))))


def keys(words: Sequence[str]) -> list[int]:
    """Keys of the features of a text (features.features)."""
    found = phrases([_word(word)[0] for word in words])
    for word in words:
        found += _word(word)[1]
    return found


def frequent(texts: Iterable[Sequence[str]], least: int) -> Keys:
    """Keys of the features that at least so many texts have, in order."""
    counts = Counter[int]()
    for words in texts:
        counts.update({*keys(words)})
    return np.array(sorted(key for key, count in counts.items() if count >= least), np.uint32)


def _sum_of_rows(width: int, left_out: float) -> Layer:
    """Texts -> sums of the rows of their features, over the root of how many they have; `keys` are those with a row."""
    attrs: dict[str, Any] = {"keys": np.empty(0, np.uint32), "left_out": left_out}
    return Model("sum_of_rows", _sum, init=_draw, attrs=attrs, params={"E": None}, dims={"nO": width})


def _draw(model: Layer, X: Any = None, Y: Any = None) -> None:
    shape = (len(model.attrs["keys"]), model.get_dim("nO"))
    model.set_param("E", uniform_init(model.ops, shape, lo=-0.17, hi=0.17))


def _sum(model: Layer, texts: Texts, is_train: bool) -> tuple[Floats, Back]:
    table, known = model.get_param("E"), model.attrs["keys"]
    found = [np.array(keys(words), np.uint32) for words in texts]
    every = np.concatenate(found)
    places = known.searchsorted(every)
    kept = known.take(places, mode="clip") == every
    if is_train and model.attrs["left_out"]:
        kept &= np.random.random(len(kept)) >= model.attrs["left_out"]
    rows, texts_of = places[kept].astype(np.int32), np.repeat(np.arange(len(texts)), [*map(len, found)])[kept]
    scale = np.array([1 / sqrt(len(one) or 1) for one in found], np.float32)[:, None]
    if is_train:
        scale /= 1 - model.attrs["left_out"]
    lengths = np.bincount(texts_of, minlength=len(texts)).astype(np.int32)
    sums = cast(Any, model.ops).reduce_sum(table[rows], lengths) * scale

    def back(gradient: Floats) -> list[Any]:
        changes = model.ops.alloc2f(*table.shape)
        model.ops.scatter_add(changes, rows, (gradient * scale)[texts_of])
        model.inc_grad("E", changes)
        return []

    return sums, back


def _word_means() -> Layer:
    """Texts -> sums of their words' vectors, over the root of how many there are; `more` are of words that lack one."""
    return Model("word_means", _mean, attrs={"more": {}}, dims={"nO": load_vectors().size})


def _mean(model: Layer, texts: Texts, is_train: bool) -> tuple[Floats, Back]:
    vectors, more = load_vectors(), model.attrs["more"]
    means = np.zeros((len(texts), vectors.size), np.float32)
    for i, words in enumerate(texts):
        for word in words:
            means[i] += more[word] if word in more else _vector(word)
        means[i] /= sqrt(len(words) or 1)
    return means, lambda _: []


@cache
def _vector(word: str) -> Floats:
    vector: Floats = load_vectors().of(word).astype(np.float32)
    return vector


def _relu() -> Model[Floats, Floats]:
    """thinc's own has a matrix before it."""

    def forward(model: Model[Floats, Floats], values: Any, is_train: bool) -> tuple[Any, Back]:
        positive = model.ops.relu(values)
        return positive, lambda gradient: model.ops.backprop_relu(gradient, positive)

    return Model("relu", forward)


def packed(model: Model[list[Doc], Floats], heads: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """A trained model as the arrays that ship: rows of few levels, and of its heads those that are named.

    Args:
        heads: classes of each head to keep, in the order of the model's outputs.
    """
    rows, means, projection = (cast(Any, model.get_ref(name)) for name in ("rows", "means", "projection"))
    known, table = _with_vectors(rows, means.attrs["more"], projection.get_param("W"))
    length = np.linalg.norm(table, axis=1)
    kept = length >= np.quantile(length, SHORTEST)
    arrays: dict[str, Any] = pack(known[kept], table[kept], LEVELS)
    arrays |= {"bias": projection.get_param("b"), "projection": projection.get_param("W").T.astype(np.float16)}
    weight, bias = (cast(Any, model.get_ref("heads").get_param(name)) for name in "Wb")
    first = 0
    for head, names in heads.items():
        part = slice(first, first := first + len(names))
        arrays |= {f"{head}.weight": weight[part].T.astype(np.float16), f"{head}.bias": bias[part].copy(),
                   f"{head}.classes": text_array(names)}  # fmt: skip
    return arrays


def _with_vectors(rows: Any, more: Mapping[str, Floats], matrix: Floats) -> tuple[Keys, Floats]:
    """Keys and rows with the projected vectors of words that lack one at run time added to their rows."""
    known, table = rows.attrs["keys"], rows.get_param("E")
    if not more:
        return known, table
    others = np.array([key_of(word) for word in more], np.uint32)
    everything = np.union1d(known, others)
    result = np.zeros((len(everything), table.shape[1]), np.float32)
    result[everything.searchsorted(known)] = table
    result[everything.searchsorted(others)] += FEATURES_OF_A_WORD * (np.stack([*more.values()]) @ matrix.T)
    return everything, result
