"""Type and intent of a request from the requests network (002 §5.2.2), calibrated, with a reject option."""

from collections.abc import Sequence
from math import exp
from typing import Any, NamedTuple

import numpy as np

from proxid.classify.network import Floats, Network
from proxid.classify.types import RequestType

FLOOR = 1e-4
LEAST = 1e-3
"""What a type has at least in each head before they are mixed."""
SURE, KNOWN = 0.9, 1.0
"""Probability of the likeliest intent, and share of known pairs and triples of words, from which the intents alone say
the type; below, the type head has a share. Chosen on the networks without CLINC and without the home corpora, with
these sources' training splits, and on held-out utterances of known sources.
"""
ORDER = (RequestType.COMMAND, RequestType.GENERAL, RequestType.LOCATION)


class Guess(NamedTuple):
    """The likeliest type, its calibrated probability, and the likeliest intent of that type (`family:intent`)."""

    type: RequestType
    confidence: float
    intent: str
    nameless: bool
    """Whether it is surely a request of a kind in which hardly anybody is named."""


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


class Intents:
    """The network with its temperature; `threshold` was chosen on training utterances (docs/models.md)."""

    def __init__(self, arrays: Any) -> None:
        self._network = Network(arrays, "requests", ["intent", "type"])
        types: Floats = arrays["requests.types"].astype(np.float32)
        self.classes = self._network.classes["intent"]
        temperature, threshold = arrays["requests.calibration"].tolist()
        nameless = np.array([name.partition(":")[2] in NAMELESS for name in self.classes], np.float32)
        # Columns: the three types, the intents that name nobody, all.
        self._sums = np.column_stack([types, nameless, np.ones_like(nameless)])
        self._of = [np.flatnonzero(column) for column in types.T]
        self._sharpness, self.threshold = 1 / float(temperature), float(threshold)

    def odds(self, words: Sequence[str]) -> tuple[Floats, list[float]]:
        """Probabilities of the intents, and calibrated ones of the types in the order of ORDER."""
        scores, sums, mixture = self._weigh(words)
        return _powers(scores) / np.float32(sums[-1]), self._calibrated(mixture)

    def mixture(self, words: Sequence[str]) -> tuple[Floats, list[float]]:
        """Probabilities of the intents, and of the types before calibration.

        The type is the intents' where one of them is likely and the wording is known from training, else more and more
        the type head's: told the type alone, a model carries over better to requests of another kind.
        """
        scores, sums, mixture = self._weigh(words)
        return _powers(scores) / np.float32(sums[-1]), mixture

    def _weigh(self, words: Sequence[str]) -> tuple[Floats, list[float], list[float]]:
        """Scores of the intents, sums of their powers (the likeliest has power 1) as in `_sums`, `mixture`."""
        hidden, seen = self._network.read(words)
        outputs = self._network.outputs(hidden)
        scores = outputs[: len(self.classes)]
        sums: list[float] = _powers(scores).dot(self._sums).tolist()
        *mass, _, total = sums
        # Few numbers from here on: plain arithmetic is faster than arrays.
        share = (min(1 / total / SURE, 1.0) * min(seen / KNOWN, 1.0)) ** 0.5
        whole = max(sum(mass), 1e-9 * total)
        if share == 1.0:
            return scores, sums, [odds / whole for odds in mass]
        head = outputs[len(self.classes) :].tolist()
        highest = max(head)
        powers = [exp(score - highest) for score in head]
        every = sum(powers)
        mixed = [
            (odds / whole + LEAST) ** share * (other / every + LEAST) ** (1 - share)
            for odds, other in zip(mass, powers, strict=True)
        ]
        both = sum(mixed)
        return scores, sums, [odds / both for odds in mixed]

    def _calibrated(self, mixture: list[float]) -> list[float]:
        powers = [(odds + FLOOR) ** self._sharpness for odds in mixture]
        whole = sum(powers)
        return [power / whole for power in powers]

    def guess(self, words: Sequence[str]) -> Guess:
        """The likeliest type and intent, whatever the threshold."""
        scores, sums, mixture = self._weigh(words)
        odds = self._calibrated(mixture)
        confidence = max(odds)
        best = odds.index(confidence)
        of = self._of[best]
        intent = self.classes[of[scores.take(of).argmax()]]
        return Guess(ORDER[best], min(confidence, 1.0), intent, sums[-2] / sums[-1] >= SURELY)


def _powers(scores: Floats) -> Floats:
    # The ufuncs' own reductions: the methods of arrays cost twice as much on few numbers.
    powers: Floats = scores - np.maximum.reduce(scores)
    return np.exp(powers, out=powers)
