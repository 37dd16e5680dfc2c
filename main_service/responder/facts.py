"""A small table of facts that need no network."""

import re

from main_service.responder.base import Context

_CAPITALS = {
    "france": "Paris", "germany": "Berlin", "spain": "Madrid", "italy": "Rome", "portugal": "Lisbon",
    "austria": "Vienna", "switzerland": "Bern", "belgium": "Brussels", "poland": "Warsaw", "greece": "Athens",
    "norway": "Oslo", "sweden": "Stockholm", "finland": "Helsinki", "denmark": "Copenhagen", "ireland": "Dublin",
    "england": "London", "the united kingdom": "London", "scotland": "Edinburgh", "russia": "Moscow",
    "japan": "Tokyo", "china": "Beijing", "india": "New Delhi", "australia": "Canberra", "canada": "Ottawa",
    "mexico": "Mexico City", "brazil": "Brasília", "argentina": "Buenos Aires", "egypt": "Cairo",
    "kenya": "Nairobi", "turkey": "Ankara", "the united states": "Washington, D.C.", "peru": "Lima",
}  # fmt: skip
_FACTS = {
    "speed of light": "299,792,458 metres a second",
    "speed of sound": "about 343 metres a second in air",
    "boiling point of water": "100 degrees Celsius at sea level",
    "freezing point of water": "0 degrees Celsius",
    "tallest mountain": "Mount Everest, 8,849 metres",
    "highest mountain": "Mount Everest, 8,849 metres",
    "largest ocean": "the Pacific",
    "longest river": "the Nile, about 6,650 kilometres",
    "largest planet": "Jupiter",
    "distance to the moon": "about 384,400 kilometres",
    "distance to the sun": "about 150 million kilometres",
    "value of pi": "about 3.14159",
}
_CAPITAL = re.compile(r"\bcapital (?:city )?of (.+?)\??$")


def answer(text: str, context: Context) -> str | None:
    """The fact asked for, or None."""
    capital = _CAPITAL.search(text) if "capital" in text else None
    if capital is not None:
        name = capital[1]
        city = _CAPITALS.get(name) or _CAPITALS.get(f"the {name}")
        return None if city is None else f"The capital of {name} is {city}."
    for key, fact in _FACTS.items():
        if key in text:
            return f"The {key} is {fact}."
    return None
