"""The classifier's contract: what every caller may rely on (DESIGN 6, 8.7)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.classify import Classification, RequestType, load_default


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("what is the capital of france", RequestType.GENERAL),
        ("is there a good italian restaurant nearby", RequestType.LOCATION),
        ("turn off the kitchen lights", RequestType.COMMAND),
    ],
)
def test_types(text: str, kind: RequestType) -> None:
    assert load_default().classify(text).type is kind


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "a" * 100_000, "привет как дела", "مرحبا كيف حالك"])
def test_unprocessable_is_withheld(text: str) -> None:
    result = load_default().classify(text)
    assert result.type is None
    assert result.masked is None
    assert result.normalised is None
    assert result.units == ()


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_never_raises_and_is_deterministic(text: str) -> None:
    result = load_default().classify(text)
    assert isinstance(result, Classification)
    assert 0.0 <= result.confidence <= 1.0
    assert result == load_default().classify(text)
    assert not any("<" in unit for unit in result.units)
