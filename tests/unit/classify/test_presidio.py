"""Microsoft's Presidio finds identifiers with `en_proxid`, which it loads by name."""

import pytest
from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_analyzer.nlp_engine import NlpEngineProvider
from presidio_analyzer.predefined_recognizers import SpacyRecognizer

from proxid.classify.components.stage import WITHHELD
from proxid.classify.identifiers.spans import _RANK
from proxid.classify.presidio import CONFIGURATION, ENTITIES, ENTITY_OF


@pytest.fixture(scope="module")
def analyzer() -> AnalyzerEngine:
    engine = NlpEngineProvider(nlp_configuration=CONFIGURATION).create_engine()
    registry = RecognizerRegistry(recognizers=[SpacyRecognizer(supported_entities=ENTITIES)])
    return AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=["en"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("call maria lopez at 617 555 0123", {"maria lopez": "PERSON", "617 555 0123": "PHONE_NUMBER"}),
        ("mail it to jo at example dot com", {"jo at example dot com": "EMAIL_ADDRESS"}),
        ("what is the capital of france", {}),
        ("wo ist der bahnhof bitte", {"wo ist der bahnhof bitte": "WITHHELD"}),
    ],
)
def test_presidio_reports_what_the_pipeline_finds(analyzer: AnalyzerEngine, text: str, found: dict[str, str]) -> None:
    results = analyzer.analyze(text, language="en")
    assert {text[result.start : result.end]: result.entity_type for result in results} == found


def test_every_kind_has_a_name_there() -> None:
    assert set(ENTITY_OF) == {*_RANK, WITHHELD}
