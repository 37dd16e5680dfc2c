"""Short cuts of the classifier decide as the plain rules do, and its memories keep words of shipped lists only."""

import gc
from functools import _lru_cache_wrapper, cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.classify import corpora, load_default, places
from proxid.classify.feature_sum import UNIT, Network, key_of
from proxid.classify.features import features
from proxid.classify.identifiers import full_names, redactor, tagger
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.identifiers.weights import Weights
from proxid.classify.memory import WordMemory
from proxid.classify.ontology import Ontology
from proxid.classify.text import clean
from proxid.classify.vectors import load as load_vectors
from proxid.classify.weights import GRID, Packed, pack, read_arrays
from tests.unit.classify.test_leaks import LEAKING

TEXTS = (
    "call john smith about the new york flights",
    "remind me at six pm to email mary o'brien",
    "what is the weather in san francisco this week",
    "play songs by the beatles on the kitchen speaker",
    "text dad that miss zyxqwv will be late",
)
WORDS = st.sampled_from([*sorted({word for text in TEXTS for word in text.split()}), "zqxj", "7", "'s", "ford"])
_BRACKETS = str.maketrans("", "", "[]")
QUERY = "the world cup soccer games and science fiction movies in real estate taxes"
PLACES = "new york city salt lake san francisco in the south dakota paris zz"


def test_a_memory_keeps_public_words_only_and_not_too_many() -> None:
    made: list[str] = []

    def make(word: str) -> int:
        made.append(word)
        return len(word)

    memory = WordMemory(make, {"a", "bb", "ccc"}, most=2)
    assert [memory[word] for word in ("a", "a", "xyz", "xyz", "bb", "ccc")] == [1, 1, 3, 3, 2, 3]
    assert made == ["a", "xyz", "xyz", "bb", "ccc"]
    assert dict(memory) == {"ccc": 3}


@pytest.mark.parametrize(
    "method", ["network", *(pytest.param(name, marks=pytest.mark.slow) for name in ("thesis", "named"))]
)
def test_no_word_of_a_request_stays_that_no_shipped_list_has(method: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree.tsv"
    tree.write_text("id\tparent\tname\n1\t\tFood\n")
    pipeline = load_default(ontology_file=tree) if method == "named" else load_default(method=method)
    secret = "".join(("zyx", "qwv", "uts", "rqx"))
    text = f"what is the best {secret} recipe for {secret[::-1]} tacos"
    assert pipeline.classify(text).masked is not None
    assert pipeline.file(text)
    gc.collect()
    # A cache's own dict is known to it alone.
    wrappers = [found for found in gc.get_objects() if isinstance(found, _lru_cache_wrapper)]
    caches = [held for wrapper in wrappers for held in gc.get_referents(wrapper)]
    kept = [found for found in (*gc.get_objects(), *caches) if type(found) is dict or isinstance(found, WordMemory)]
    assert [found for found in kept if "tacos" in found]
    said = [key for found in kept for key in found if isinstance(key, str) and key is not text]
    assert not [key for key in said if secret in key or secret[::-1] in key]


@given(st.lists(WORDS, min_size=1, max_size=9), st.lists(st.booleans(), min_size=9, max_size=9), st.booleans())
@settings(max_examples=60, deadline=None)
def test_scores_of_the_tagger_are_sums_of_its_features(words: list[str], upper: list[bool], before: bool) -> None:
    tags = tagger.load()
    shown = [word.capitalize() if up else word for word, up in zip(words, upper, strict=False)]
    grades, candidates = tags.grades(words)
    assert grades == tagger.grades_of(words, tags.gazetteer)
    assert candidates == [tagger.candidate(*pair) for pair in zip(words, grades, strict=True)]
    shapes = tagger.shapes_of(shown)
    for i, likely in enumerate(candidates):
        if likely:
            weights = tagger.weights()
            plain = sum(weights.get(name, 0.0) for name in tagger.token_features(words, grades, shapes, i, before))
            assert tags.weights.score(words, grades, shapes, i, before) == pytest.approx(plain, abs=1e-9)


def test_every_weight_of_a_word_or_pair_has_its_place() -> None:
    """Each feature alone weighs 1: none is counted twice or lost."""
    words, grades, shapes = ["mr", "mark", "twain", "is", "here"], ["0040", "5430", "0400", "0050", "0050"], ["-"] * 5
    for i in range(5):
        for name in tagger.token_features(words, grades, shapes, i, True):
            assert Weights({name: 1.0}).score(words, grades, shapes, i, True) == 1.0, name


@cache
def _requests() -> tuple[dict[str, np.ndarray], Network, dict[int, np.ndarray]]:
    """Arrays of the shipped network of intents, the network, and the row of each key."""
    arrays = read_arrays(Path(str(files("en_proxid"))) / "proxid_intent" / "weights.npz")
    packed = Packed.of(arrays)
    return arrays, Network(arrays, ["intent"]), dict(zip(packed.keys.tolist(), packed.rows * GRID, strict=False))


@given(st.lists(WORDS, max_size=9))
@settings(max_examples=100, deadline=None)
def test_activations_are_the_sum_over_the_features(words: list[str]) -> None:
    arrays, network, rows = _requests()
    found = features(words)
    known = [rows[key] for feature in found if (key := key_of(feature)) in rows]
    total = np.sum(known, axis=0) / len(found) ** 0.5 if known else np.zeros(128)
    if words:
        vectors = np.sum([load_vectors().of(word) for word in words], axis=0)
        total = total + vectors @ arrays["projection"].astype(np.float64) / len(words) ** 0.5
    (hidden, other), (seen, _) = network.table.hidden([words, [*words, "tacos"]])
    # What is rounded on the way: the projection, a word's vector, the activation.
    np.testing.assert_allclose(hidden * UNIT, np.maximum(total + arrays["bias"], 0), atol=0.02)
    assert seen == sum(" " in feature for feature in found if key_of(feature) in rows) / (2 * len(words) + 1)
    alone = network.table.hidden([[*words, "tacos"]])[0][0]
    assert other.tolist() == alone.tolist()


def test_rows_are_stored_to_half_a_step() -> None:
    rows = np.random.default_rng(1).normal(0, 0.3, (500, 16)).astype(np.float32)
    keys = [*range(7, 507)]
    stored = Packed.of(pack(keys, rows, 7))
    assert stored.keys.tolist() == keys
    step = np.abs(rows).max(axis=1, keepdims=True) / 7
    assert (np.abs(stored.rows[:-1] * GRID - rows) <= step / 2 + 8 * GRID).all()
    places, known = stored.places([7, 3, 506, 2**32 - 1])
    assert known.tolist() == [True, False, True, False] and places[0] == 0 and places[2] == 499


@given(
    st.lists(st.sampled_from(["one", "oh", "5", "stone", "a", "dot", "com", "123-45-6789", "me", "(two"]), max_size=12),
    st.lists(st.sampled_from([" ", "-", "  ", ",", "@", "://", ".", ". "]), min_size=12, max_size=12),
)
@settings(max_examples=1000, deadline=None)
def test_the_gate_searches_every_text_that_has_something_to_find(parts: list[str], marks: list[str]) -> None:
    text = "".join(part + mark for part, mark in zip(parts, marks, strict=False))
    plain = redactor._LEFT.pattern.search(text) or redactor._RUN.search(text)
    assert redactor._left(text) == (plain is not None)


def test_pairs_of_names_are_found_where_their_rules_find_them() -> None:
    rules = [*full_names._OF_RARE, *(rule for _, rule in full_names._RULES)]
    texts = [row.text for row in corpora.training()[0]][::40] + [text.translate(_BRACKETS) for text in LEAKING]
    for text in texts:
        cleaned = clean(text)
        assert cleaned is not None
        u = Utterance.of(cleaned)
        hits = [word in ("and", "call") for word in ("", *u.words[:-1])]
        plain = [
            i for i in range(len(u.words))
            if not hits[i] and full_names.nameable(u, i) and not full_names._placed(u, i)
            and any(rule(u, i, hits) for rule in rules)
        ]  # fmt: skip
        assert [*full_names.pairs(u, hits)] == plain


def test_runs_of_words_name_what_they_name_one_by_one() -> None:
    iab = Ontology.iab()
    words = QUERY.split()
    runs = [" ".join(words[i : i + n]) for n in (3, 2, 1) for i in range(len(words) - n + 1)]
    assert [*iab.named_in(words, 3)] == [path for run in runs for path in iab.named(run)]
    assert [*iab.named_in([], 3)] == []


@given(st.lists(st.sampled_from(PLACES.split()), max_size=9))
def test_places_are_the_longest_names(words: list[str]) -> None:
    known, found, i = places.load(), [], 0
    while i < len(words):
        runs = [n for n in range(min(places.LONGEST, len(words) - i), 0, -1) if " ".join(words[i : i + n]) in known]
        if runs:
            found.append((i, i + runs[0] - 1))
        i += runs[0] if runs else 1
    assert [(first, last) for first, last, _ in places.within(words, known)] == found


@pytest.mark.parametrize(
    ("text", "read"), [("logan", True), ("Molina", True), ("donaudampfschifffahrtsgesellschaft", False)]
)
def test_a_single_masked_word_is_judged_by_its_letters(text: str, read: bool) -> None:
    """A name alone is no other language (it was once an error of arithmetic); a foreign word alone is."""
    assert (load_default().read(text) is not None) == read
