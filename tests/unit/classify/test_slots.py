"""Slots are kinds and buckets, never words; shapes cover the corpora's intents (DESIGN 8.8, 8.9)."""

import pytest

from proxid.classify import RequestType, Slot, load_default
from proxid.classify.shapes import intents, shape
from proxid.classify.slots import slots
from proxid.classify.times import bucket, day, number, part_of_day, span


@pytest.mark.parametrize(
    ("text", "expected"),
    [("wake me at six am", "morning"), ("dinner at seven pm", "evening"), ("at five o'clock", "clock"),
     ("at 14:30", "afternoon"), ("in the evening", "evening"), ("turn it on", None)],
)  # fmt: skip
def test_part_of_day(text: str, expected: str | None) -> None:
    assert part_of_day(text, text.split()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("what about tomorrow", "tomorrow"), ("next week", "week"), ("on friday", "weekday"), ("this weekend", "weekend"),
     ("in may", "month"), ("may i go", None), ("yesterday", "past")],
)  # fmt: skip
def test_day(text: str, expected: str | None) -> None:
    assert day(text.split()) == expected


def test_numbers_are_bucketed() -> None:
    assert number(["set", "it", "to", "seventy", "two", "degrees"]) == "51-100"
    assert number(["two", "hundred", "and", "five"]) == "over 100"
    assert [bucket(n) for n in (0, 1, 5, 6, 20, 21, 100, 101)] == [
        "0", "1", "2-5", "6-10", "11-20", "21-50", "51-100", "over 100",
    ]  # fmt: skip
    assert span("for twenty minutes") == "minutes"


def test_values_are_never_the_words() -> None:
    words = ["call", "mom", "about", "dinner", "in", "springfield", "illinois", "tomorrow", "at", "six", "pm"]
    found = slots(" ".join(words), words, [])
    assert Slot("contact", "family") in found
    assert Slot("time", "evening") in found
    assert any(slot.kind == "place" for slot in found)
    said = {slot.value for slot in found}
    assert not said & {"springfield", "mom", "six"}


def test_every_intent_has_a_shape() -> None:
    for name in intents():
        assert len(shape(name, ())) == 4
    assert shape("home:iot_hue_lightoff", ())[0] == "iot"


def test_commands_have_shapes_and_others_none() -> None:
    command = load_default().classify("turn off the kitchen lights")
    assert command.type is RequestType.COMMAND
    assert command.shape[:3] == ("iot", "hue_lightoff", "light")
    place = load_default().classify("is there a good italian restaurant nearby")
    assert place.shape == ()
    assert place.intent is not None
    assert Slot("venue", "restaurant") in place.slots
