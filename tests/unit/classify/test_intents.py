"""The type of a request: intents and written groups together, the latter for wording that training does not know."""

from typing import Any

import numpy as np
import pytest

from proxid.classify import load_default
from proxid.classify.feature_sum import key_of
from proxid.classify.intents import ASKED_WEIGHT, ORDER, OTHER_WEIGHT, OWN_WEIGHT, THRESHOLD, Guess, Intents
from proxid.classify.state import State, state_of
from proxid.classify.types import RequestType
from proxid.classify.vectors import load as load_vectors
from proxid.classify.weights import pack, text_array

CLASSES = ("clinc:date", "clinc:directions", "home:alarm_set", "written:location_0")
ODDS = (0.30, 0.05, 0.20, 0.45)
TYPES = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 0, 1))


def network(classes: tuple[str, ...], odds: tuple[float, ...], types: tuple[tuple[int, ...], ...]) -> Intents:
    """A network that gives every text the same odds, and knows the wording of the text `a` alone."""
    vocabulary = ("^ a", "^ a $", "a $")
    arrays: dict[str, Any] = {
        **pack([*map(key_of, vocabulary)], np.zeros((len(vocabulary), 1), np.float32), 7),
        "bias": np.zeros(1, np.float32),
        "projection": np.zeros((load_vectors().size, 1), np.float16),
        "intent.weight": np.zeros((1, len(classes)), np.float16),
        "intent.bias": np.log(np.array(odds, np.float32)),
        "intent.classes": text_array(classes),
        "types": np.array(types, np.int8),
        "calibration": np.array([1.0], np.float32),
    }
    return Intents(arrays)


@pytest.fixture
def intents() -> Intents:
    return network(CLASSES, ODDS, TYPES)


def test_written_groups_count_where_the_wording_is_unknown(intents: Intents) -> None:
    assert intents.mixture(["zq"]) == pytest.approx([0.20, 0.30, 0.50], abs=1e-3)
    assert intents.guess(["zq"]).type is RequestType.LOCATION


def test_written_groups_do_not_count_where_all_the_wording_is_known(intents: Intents) -> None:
    assert intents.mixture(["a"]) == pytest.approx(np.array([0.20, 0.30, 0.05]) / 0.55, abs=1e-3)
    assert intents.guess(["a"]).type is RequestType.GENERAL


def test_written_groups_count_in_part_where_some_of_the_wording_is_known(intents: Intents) -> None:
    # Of "^ a", "a zq", "zq $", "^ a zq", "a zq $" the first is known.
    weight = 0.45 * 0.8**0.5
    assert intents.mixture(["a", "zq"]) == pytest.approx(
        np.array([0.20, 0.30, 0.05 + weight]) / (0.55 + weight), abs=1e-3
    )


def test_groups_of_public_questions_count_little_where_somebody_speaks_of_their_own() -> None:
    classes = ("clinc:balance", "clinc:date", "written:general_0", "written:general_q0")
    intents = network(classes, (0.3, 0.02, 0.08, 0.6), ((1, 0, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0)))
    other = 0.1 + 0.6 * OTHER_WEIGHT
    assert intents.mixture(["zq", "balance"]) == pytest.approx(
        [0.3 / (0.3 + other), other / (0.3 + other), 0], abs=1e-3
    )
    left = 0.1 + 0.6 * OWN_WEIGHT
    assert intents.mixture(["my", "balance"]) == pytest.approx([0.3 / (0.3 + left), left / (0.3 + left), 0], abs=1e-3)
    assert intents.guess(["zq", "balance"]).type is RequestType.GENERAL
    assert intents.guess(["my", "balance"]).type is RequestType.COMMAND


@pytest.mark.parametrize("opening", ["why", "what is", "how do", "who"])
def test_groups_of_public_questions_count_more_where_the_public_asks_so(opening: str) -> None:
    classes = ("clinc:balance", "clinc:date", "written:general_0", "written:general_q0")
    intents = network(classes, (0.5, 0.1, 0.1, 0.3), ((1, 0, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0)))
    asked, owned = [*opening.split(), "zq"], [*opening.split(), "my", "zq"]
    for words, counted in (
        (asked, ASKED_WEIGHT), (owned, OWN_WEIGHT), ([*asked, "you"], 1.0), (["zq", *opening.split()], OTHER_WEIGHT),
    ):  # fmt: skip
        told = 0.2 + 0.3 * counted
        mixture = np.array(intents.mixture(words))
        assert mixture / mixture.sum() == pytest.approx(np.array([0.5, told, 0]) / (0.5 + told), abs=1e-3), words


def test_a_written_group_is_no_intent(intents: Intents) -> None:
    assert intents.classes == list(CLASSES[:3])
    assert intents.guess(["zq"]).intent == "clinc:directions"
    odds, types = intents.odds(["zq"])
    assert odds.tolist() == pytest.approx((np.array(ODDS[:3]) / 0.55).tolist(), abs=1e-3)
    assert sum(types) == pytest.approx(1, abs=1e-3)


def test_what_names_nobody_is_judged_among_the_intents(intents: Intents) -> None:
    # "date" and "alarm_set" name nobody: 0.50 of 0.55, though the written group has nearly half.
    assert intents.guess(["zq"]).nameless


def test_the_shipped_groups_come_after_the_intents() -> None:
    shipped = load_default().intents
    names = shipped.network.classes["intent"]
    assert names[: len(shipped.classes)] == shipped.classes
    assert len(names) > len(shipped.classes)


def doubted(text: str, odds: tuple[float, float, float], least: float) -> State:
    """How a text ends for which the network of types has the given odds of command, general and location."""
    nlp = load_default().nlp
    with nlp.memory_zone():
        doc = nlp(text, disable=["proxid_topic", "proxid_slots"])
        state = state_of(doc)
        likeliest = ORDER[odds.index(max(odds))]
        state.guess = Guess(likeliest, max(odds), "home:music_query", False, odds)
        state.type, state.least = likeliest if max(odds) >= least else None, least
        nlp.get_pipe("proxid_topic")(doc)
    return state


@pytest.mark.parametrize("odds", [(0.6, 0.37, 0.03), (0.02, 0.3, 0.68), (0.36, 0.34, 0.3)])
def test_what_has_a_sure_topic_and_may_be_general_is_general(odds: tuple[float, float, float]) -> None:
    state = doubted("a recipe for apple pie", odds, THRESHOLD)
    assert state.type is RequestType.GENERAL
    assert state.path
    assert state.guess is not None
    assert state.guess.confidence == max(state.guess.odds) >= THRESHOLD


@pytest.mark.parametrize(
    ("text", "odds", "least"),
    [
        ("a recipe for apple pie", (0.9, 0.08, 0.02), THRESHOLD),  # hardly general
        ("a recipe for apple pie", (0.6, 0.37, 0.03), 0.9),  # too little for an operator's threshold
        ("do that again", (0.6, 0.37, 0.03), THRESHOLD),  # no topic
    ],
)
def test_others_stay_what_the_network_of_types_says(text: str, odds: tuple[float, float, float], least: float) -> None:
    state = doubted(text, odds, least)
    assert state.type is not RequestType.GENERAL
    assert state.path == ()
    assert state.guess is not None
    assert state.guess.odds == odds
