"""Command shapes: domain, intent, device kind, parameter bucket (DESIGN 8.9), for every intent of the three corpora."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from proxid.classify.types import Slot

NONE = "none"
DEVICES = {"iot_hue": "light", "iot_wemo": "plug", "iot_cleaning": "vacuum", "iot_coffee": "coffee machine",
           "audio": "speaker", "music": "speaker", "play": "speaker", "alarm": "alarm"}  # fmt: skip
PARAMETERS = ("time", "number", "duration", "item", "contact", "date")
"""Kinds of slots that can be the parameter of a command, the first that is filled."""


class Intent(NamedTuple):
    """Where an intent stands in the tree."""

    domain: str
    leaf: str


@cache
def intents() -> dict[str, Intent]:
    """`family:intent` of the corpora -> its place in the tree."""
    lines = (files("proxid.classify") / "data" / "intents.tsv").read_text().splitlines()
    return {name: Intent(domain, leaf) for name, domain, leaf in (line.split("\t") for line in lines)}


def shape(intent: str, slots: Sequence[Slot]) -> tuple[str, ...]:
    """The shape of a command."""
    place = intents()[intent]
    values = {slot.kind: slot.value for slot in reversed(slots)}
    full = f"{place.domain}_{place.leaf}"
    device = next((kind for start, kind in DEVICES.items() if full.startswith(start)), values.get("device", NONE))
    kind = next((kind for kind in PARAMETERS if kind in values), NONE)
    return place.domain, place.leaf, device, NONE if kind == NONE else f"{kind} {values[kind]}"
