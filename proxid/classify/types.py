"""What a classification is (DESIGN 6): the types that services, releases and attacks program against."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class RequestType(StrEnum):
    """The three kinds of request (002 §5.2.2)."""

    GENERAL = "general"
    LOCATION = "location"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Slot:
    """One filled parameter of a request; `value` is normalised and bucketed, never the words spoken."""

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Classification:
    """What the pipeline says of one utterance.

    type: None when rejected (under the threshold, another language, unprocessable): answer it, log nothing.
    confidence: calibrated probability that `type` is right, 0..1.
    path: category path of a general query, IAB head first, at most 13 names; () without one.
    masked: the text with identifiers replaced by typed slots ("<NAME>"); None when it must be withheld.
    normalised: `masked` in lower case with single spaces: what the ladder counts (DESIGN 8.7).
    units: semantic units of `normalised`, longest first, without masked slots.
    slots: parameters of a location query or a command.
    intent: leaf of the intent tree, for location queries and commands.
    shape: (domain, intent, device kind, parameter bucket) of a command, () otherwise (DESIGN 8.9).
    """

    type: RequestType | None
    confidence: float
    path: tuple[str, ...] = ()
    masked: str | None = None
    normalised: str | None = None
    units: tuple[str, ...] = ()
    slots: tuple[Slot, ...] = ()
    intent: str | None = None
    shape: tuple[str, ...] = ()


class Classifier(Protocol):
    """Anything that classifies an utterance; `version` is recorded in the evidence (DESIGN 10.4 (4))."""

    version: str

    def classify(self, text: str) -> Classification:
        """Classify one utterance; never raises on its content."""
        ...

    def pipe(self, texts: Iterable[str]) -> Iterator[Classification]:
        """Classify many, in order: what `classify` says of each, in less time."""
        ...
