"""Entries of which no request tells, in words."""

import pytest

from auditor.record_history import Step
from auditor.report.sentences import sentence


@pytest.mark.parametrize(("said", "words"), [
    ({"begins": True, "word": "ab"}, "it was told, by the gateway's signed word, that a person objects"),
    ({"begins": False, "word": ""}, "by a gateway that gave no signed word, that a person objects no more."),
    ({}, "main service told that somebody objects"),
])  # fmt: skip
def test_that_somebody_objects_is_told_without_who(said: dict[str, object], words: str) -> None:
    told = sentence(Step("main-service", 1200, "RESTRICTED", dict(said)))
    assert told.startswith("Main service, entry 1,200: ") and words in told
