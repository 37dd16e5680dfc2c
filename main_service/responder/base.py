"""What a responder is."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Outcome(StrEnum):
    """How an answer came about; the only thing that is told of one outside of it (logs, metrics)."""

    ANSWERED = "answered"
    UNKNOWN = "unknown"
    """Nobody knows an answer."""
    COMMAND = "command"
    """A command, which nobody here carries out."""
    LATE = "late"
    FAILED = "failed"
    REFUSED = "refused"
    """Not asked: too many questions are under way, or the upstream failed too often just now."""
    UNREADABLE = "unreadable"
    """Not asked: identifiers could not be told from the rest of the text."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer in words, and how it came about."""

    text: str
    outcome: Outcome = Outcome.ANSWERED


@dataclass(frozen=True, slots=True)
class Context:
    """What a responder is told besides the utterance: the time it was said (Unix ms) and its locale (BCP 47)."""

    time_ms: int
    locale: str


class Responder(Protocol):
    """Answers utterances; what it cannot answer is a Reply that says so. One that raises has its question refused.

    `answer` may be a plain function: it is then called in a thread, where it may block. It may be called twice for one
    question (a retry that meets another worker): whatever must not happen twice belongs behind `Upstream`.
    """

    async def answer(self, utterance: str, context: Context) -> str | Reply:
        """The answer."""
        ...
