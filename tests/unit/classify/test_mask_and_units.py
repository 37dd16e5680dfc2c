"""What a shown text becomes: masked without the rest of the classifier; units that name a thing."""

import pytest

from proxid.classify import load_default
from proxid.classify.pipeline import mask
from proxid.classify.semantic_units import semantic_units


@pytest.mark.parametrize(
    "text",
    [
        "cheap flights to boston",
        "call john smith at 555 123 4567",
        "write to bob@example.com",
        "wie komme ich nach berlin",
        "turn on the lights",
        "",
        "\ud800",
    ],
)
def test_masking_alone_gives_what_classification_gives(text: str) -> None:
    """The same form, and none for a text to withhold."""
    pipeline = load_default()
    assert mask(pipeline, text) == pipeline.classify(text).masked


def test_masking_fails_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever raises inside is a text that is not shown."""
    pipeline = load_default()
    monkeypatch.setattr(pipeline.nlp.get_pipe("proxid_rules"), "redactor", None)
    assert mask(pipeline, "weather in boston") is None


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("what is photosynthesis", ("photosynthesis",)),
        ("what is", ()),
        ("restaurants near me", ("restaurants",)),
        ("famous quotes", ("quotes",)),
        ("popular", ()),
        ("new york pizza", ("new york pizza", "york pizza", "new york", "pizza", "york", "new")),
    ],
)
def test_stock_phrases_are_no_units(text: str, units: tuple[str, ...]) -> None:
    """Words of function, and the stock words of requests, name nothing."""
    assert semantic_units(text.split()) == units
