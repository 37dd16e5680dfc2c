"""Type and intent of a request from the requests network (002 §5.2.2), calibrated, with a reject option."""

from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np

from proxid.classify.feature_sum import Network
from proxid.classify.lexicon import lexicon
from proxid.classify.types import RequestType
from proxid.classify.weights import Doubles

FLOOR = 1e-4
ORDER = (RequestType.COMMAND, RequestType.GENERAL, RequestType.LOCATION)
WRITTEN = "written:"
"""Prefix of the classes that stand for a group of written utterances of one type: they have a type and no intent."""
PUBLIC = f"{WRITTEN}general_q"
"""Prefix of the groups of public questions."""
OWN_WEIGHT, OTHER_WEIGHT, ASKED_WEIGHT = 1 / 6, 1 / 3, 2.5
"""What the groups of public questions weigh where somebody speaks of what is their own ("my", "our"), since the public
asks about nobody's; where a text does not begin as the public asks; and where it does ("why", "what is") and speaks
neither of who asks nor to who answers. Chosen on left-out sources and held-out texts (docs/models.md).
"""
TOPIC_WEIGHT = 3.0
"""How much likelier a general request is where its words have a sure topic. Chosen on held-out training texts
(docs/models.md)."""
THRESHOLD = 0.45
"""The probability under which a type is rejected. Chosen on left-out sources (docs/models.md)."""
DAMPING = 0.5
"""How much less a written group counts the more of a text's wording is known from training. Chosen on held-out
training utterances (docs/models.md).
"""


class Guess(NamedTuple):
    """The likeliest type, its calibrated probability, and the likeliest intent of that type (`family:intent`)."""

    type: RequestType
    confidence: float
    intent: str
    nameless: bool
    """Whether it is surely a request of a kind in which hardly anybody is named."""
    odds: tuple[float, ...]
    """Calibrated probabilities of the types in the order of ORDER."""


NAMELESS = frozenset(
    (
        "calculator calories cook_time date definition exchange_rate food_last improve_credit_score "
        "ingredient_substitution ingredients_list international_visa jump_start meal_suggestion "
        "measurement_conversion next_holiday nutrition_info oil_change_how plug_type recipe rollover_401k time "
        "timezone tire_change translate vaccines weather tire_pressure gas mpg gas_type oil_change_when interest_rate "
        "fun_fact meaning_of_life tell_joke spelling timer flip_coin roll_dice qa_currency qa_definition qa_maths "
        "qa_stock weather_query cooking_recipe cooking_query datetime_query datetime_convert iot_hue_lightchange "
        "iot_hue_lightdim iot_hue_lightoff iot_hue_lighton iot_hue_lightup iot_wemo_on iot_wemo_off iot_cleaning "
        "iot_coffee audio_volume_up audio_volume_down audio_volume_mute audio_volume_other alarm_set alarm_query "
        "alarm_remove general_joke transport_traffic "
    ).split()
)
SURELY = 0.7
_HIGHEST = log(2.0**40)
_GENERAL = ORDER.index(RequestType.GENERAL)


class Intents:
    """The network with its temperature."""

    def __init__(self, arrays: Any) -> None:
        self.network = Network(arrays, ["intent"])
        names = self.network.classes["intent"]
        self.classes = [name for name in names if not name.startswith(WRITTEN)]
        """The corpora's intents, which come before the written groups."""
        types: Doubles = arrays["types"].astype(np.float64)
        (temperature,) = arrays["calibration"].tolist()[:1]
        nameless = np.array([name.partition(":")[2] in NAMELESS for name in self.classes], np.float64)
        public = np.array([name.startswith(PUBLIC) for name in names])
        # Columns: the types of the corpora's intents, those of the written groups, the intents that name nobody, all,
        # the groups of public questions, which are general.
        self._sums = np.zeros((len(names), 9))
        known = len(self.classes)
        self._sums[:known, :3], self._sums[known:, 3:6] = types[:known], types[known:]
        self._sums[:known, 6], self._sums[:known, 7], self._sums[:, 8] = nameless, 1, public
        self._of = [np.flatnonzero(column) for column in types[:known].T]
        self._sharpness = 1 / float(temperature)

    def odds(self, words: Sequence[str]) -> tuple[Doubles, list[float]]:
        """Probabilities of the corpora's intents, and calibrated ones of the types in the order of ORDER."""
        scores, seen = self.network.scores([words])
        powers = _powers(scores[:, : len(self.classes)])[0]
        return powers / powers.sum(), self._calibrated(self._mixtures(scores, seen, [weight(words)])[1][0])

    def mixture(self, words: Sequence[str]) -> list[float]:
        """Probabilities of the types before calibration.

        A type has what its intents and its written groups have. The latter stand for requests of kinds that no corpus
        has: they count less, the more of the pairs and triples of words are known from training; those of public
        questions count as `weight` says.
        """
        return self._mixtures(*self.network.scores([words]), [weight(words)])[1][0]

    def guess(self, words: Sequence[str]) -> Guess:
        """The likeliest type and intent of one text, whatever the threshold."""
        return self.guesses(*self.network.scores([words]), [weight(words)])[0]

    def guesses(self, scores: Doubles, seen: Sequence[float], weights: Sequence[float]) -> list[Guess]:
        """The same of each text, given the network's outputs, the known shares of wording, and each text's `weight`."""
        return [
            self._guess(row, sums, self._calibrated(mixture))
            for row, sums, mixture in zip(scores, *self._mixtures(scores, seen, weights), strict=True)
        ]

    def _guess(self, scores: Doubles, sums: list[float], odds: list[float]) -> Guess:
        confidence = max(odds)
        best = odds.index(confidence)
        of = self._of[best]
        intent = self.classes[of[scores.take(of).argmax()]]
        return Guess(ORDER[best], min(confidence, 1.0), intent, sums[6] >= SURELY * sums[7], tuple(odds))

    def _mixtures(
        self, scores: Doubles, seen: Sequence[float], weights: Sequence[float]
    ) -> tuple[list[list[float]], list[list[float]]]:
        """Of each text sums of powers as in `_sums`, and `mixture`."""
        rows: list[list[float]] = _powers(scores).dot(self._sums).tolist()
        mixtures = []
        # Few numbers from here on: plain arithmetic is faster than arrays.
        for sums, share, public in zip(rows, seen, weights, strict=True):
            damped = (1 - share) ** DAMPING
            mass = [one + damped * other for one, other in zip(sums[:3], sums[3:6], strict=True)]
            mass[_GENERAL] += (public - 1) * damped * sums[8]
            whole = max(sum(mass), 1.0)
            mixtures.append([odds / whole for odds in mass])
        return rows, mixtures

    def _calibrated(self, mixture: list[float]) -> list[float]:
        powers = [(odds + FLOOR) ** self._sharpness for odds in mixture]
        whole = sum(powers)
        return [power / whole for power in powers]


def with_topic(guess: Guess) -> Guess:
    """What a guess becomes where the words have a sure topic: general requests have one more often than others."""
    odds = [share * (TOPIC_WEIGHT if i == _GENERAL else 1) for i, share in enumerate(guess.odds)]
    whole = sum(odds)
    confidence = max(odds)
    kind = ORDER[odds.index(confidence)]
    return guess._replace(type=kind, confidence=confidence / whole, odds=tuple(share / whole for share in odds))


def weight(words: Sequence[str]) -> float:
    """What the groups of public questions weigh in a text (OWN_WEIGHT)."""
    if not lexicon("own_words").isdisjoint(words):
        return OWN_WEIGHT
    if lexicon("question_openings").isdisjoint((*words[:1], " ".join(words[:2]))):
        return OTHER_WEIGHT
    return ASKED_WEIGHT if lexicon("personal_words").isdisjoint(words) else 1.0


def _powers(scores: Doubles) -> Doubles:
    """Powers of scores, the highest is 2 to the 40th; whole numbers, so that sums of them lose nothing in any order."""
    powers: Doubles = scores - (np.maximum.reduce(scores, axis=1, keepdims=True) - _HIGHEST)
    np.exp(powers, out=powers)
    return np.rint(powers, out=powers)
