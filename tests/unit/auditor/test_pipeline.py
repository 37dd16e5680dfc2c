"""Check 4 for every type: what was buffered is what the pipeline makes of the disclosed utterance."""

import dataclasses

import pytest

from auditor.checks.c4_pipeline import Pipeline
from proxid.classify import Classification, RequestType
from proxid.errors import CommitMismatchError
from proxid.evidence.events import BufferedPayload
from proxid.protocol.request import Utterance

SHAPE = ("lights", "turn_on", "lamp", "none")


class Fixed:
    """Answers with what the utterance says."""

    version = "fixed-1"

    def classify(self, text: str) -> Classification:
        plain = Classification(type=RequestType(text), confidence=1.0, path=(), masked=None, normalised=None, units=())
        if text == "general":
            return dataclasses.replace(plain, path=("Home", "Garden"), masked="m", normalised="n", units=("u", "v"))
        if text == "location":
            return dataclasses.replace(plain, intent="weather_query")
        return dataclasses.replace(plain, shape=SHAPE)


def payload(kind: str, path: tuple[str, ...], texts: tuple[str, ...], said: str = "") -> BufferedPayload:
    opening = Utterance.new(said or kind, 0).opening
    return BufferedPayload(bytes(64), "px1", True, "acme:alias", kind, opening, "fixed-1", path, texts, 0)


GOOD = {
    "general": payload("general", ("Home", "Garden"), ("n", "u", "v")),
    "location": payload("location", ("a", "b"), ("weather_query", "weather_query")),
    "command": payload("command", ("lights@anywhere", *SHAPE[1:]), ("", "")),
    "command at a place": payload("command", ("lights@8326e9fffffffff", *SHAPE[1:]), ("", "")),
}
BAD = {
    "another type": payload("command", GOOD["command"].path, ("", ""), said="location"),
    "another category": payload("general", ("Home", "Pets"), ("n",)),
    "a text left out": payload("general", ("Home", "Garden"), ("n", "v")),
    "a text added": payload("general", ("Home", "Garden"), ("n", "w")),
    "another intent": payload("location", ("a", "b"), ("alarm_query", "weather_query")),
    "words of a location": payload("location", ("a", "b"), ("weather_query", "weather at my trial")),
    "another domain": payload("command", ("locks@anywhere", *SHAPE[1:]), ("", "")),
    "another device": payload("command", ("lights@anywhere", "turn_on", "heater", "none"), ("", "")),
    "a shape cut short": payload("command", ("lights@anywhere",), ("", "")),
    "a third text of a command": payload("command", GOOD["command"].path, ("", "", "")),
    "words of a command": payload("command", GOOD["command"].path, ("", "turn on the light")),
    "no shape": payload("command", (), ("", "")),
}


@pytest.mark.parametrize("good", GOOD.values(), ids=GOOD)
def test_what_the_pipeline_gives_holds(good: BufferedPayload) -> None:
    assert Pipeline(Fixed()).verify(good)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_anything_else_does_not(bad: BufferedPayload) -> None:
    with pytest.raises(CommitMismatchError):
        Pipeline(Fixed()).verify(bad)  # type: ignore[arg-type]


def test_another_version_is_not_checked() -> None:
    assert not Pipeline(Fixed()).verify(dataclasses.replace(BAD["another device"], pipeline="fixed-0"))  # type: ignore[arg-type]
