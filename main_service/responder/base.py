"""What a responder is."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Context:
    """What a responder is told besides the utterance: the time it was said (Unix ms) and its locale (BCP 47)."""

    time_ms: int
    locale: str


class Responder(Protocol):
    """Answers utterances; what it cannot answer it says so. One that raises has its question refused.

    `answer` may be a plain function: it is then called in a thread, where it may block.

    Attributes:
        repeatable: answering twice does no harm. If not, the store is asked for an earlier answer first.
    """

    repeatable: bool

    async def answer(self, utterance: str, context: Context) -> str:
        """The answer in words."""
        ...
