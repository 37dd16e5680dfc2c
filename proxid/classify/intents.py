"""Type and intent of a request from the requests network (002 §5.2.2), calibrated, with a reject option."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from proxid.classify.network import Floats, Network, softmax
from proxid.classify.types import RequestType

FLOOR = np.float32(1e-4)
SURE = 0.3
"""Probability of the likeliest intent from which the intents alone say the type (chosen on held-out utterances)."""
KNOWN = 0.4
"""Share of known pairs and triples from which a wording counts as known: nine in ten held-out utterances have it."""
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
        self._types: Floats = arrays["requests.types"].astype(np.float32)
        self.classes = self._network.classes["intent"]
        temperature, threshold = arrays["requests.calibration"].tolist()
        self._nameless = np.array([name.partition(":")[2] in NAMELESS for name in self.classes], np.float32)
        self._temperature, self.threshold = np.float32(temperature), float(threshold)

    def odds(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Probabilities of the intents, and calibrated ones of the types in the order of ORDER."""
        intents, mixture = self.mixture(words)
        return intents, softmax(np.log(mixture + FLOOR) / self._temperature)

    def mixture(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Probabilities of the intents, and of the types before calibration.

        The type is the intents' where one of them is likely and the wording is known from training, else more and more
        the type head's: told the type alone, a model carries over better to requests of another kind.
        """
        hidden, seen = self._network.read(words)
        intents = softmax(self._network.output("intent", hidden))
        mass = intents @ self._types
        sure = min(float(intents.max()) / SURE, 1.0) * min(seen / KNOWN, 1.0)
        mixed = sure * mass / max(float(mass.sum()), 1e-9) + (1 - sure) * softmax(self._network.output("type", hidden))
        return intents, mixed.astype(np.float32)

    def guess(self, words: Sequence[str]) -> Guess:
        """The likeliest type and intent, whatever the threshold."""
        intents, mass = self.odds(words)
        best = int(mass.argmax())
        intent = self.classes[int((intents * self._types[:, best]).argmax())]
        return Guess(ORDER[best], min(float(mass[best]), 1.0), intent, float(intents @ self._nameless) >= SURELY)
