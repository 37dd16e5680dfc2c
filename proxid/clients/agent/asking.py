"""What every door does with an utterance: ask in a person's name, and say in words what came of it (DESIGN 5.6)."""

import asyncio
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import structlog

from proxid.classify.types import Classification, RequestType
from proxid.errors import Code, ProxidError
from proxid.runtime.observability.logging import described

AWAY: Final = "Sorry, I can't reach the assistant just now."
TOO_LONG: Final = "Sorry, that was too long for me."
TOO_OFTEN: Final = "Sorry, that was too much at once. Please try again in a minute."
NOBODY: Final = "Sorry, I don't know who is asking."
NO_ANSWER: Final = "Sorry, I have no answer to that."
AT_HOME: Final = "That is for your home to do: it was not sent anywhere."
"""Where the home does not act after all; a front end that acts does not say it."""
_SAID: Final[Mapping[Code, str]] = {
    Code.UPSTREAM_UNREACHABLE: AWAY, Code.STORE_UNAVAILABLE: AWAY, Code.CLOCK_DOUBTED: AWAY,
    Code.UPSTREAM_CLOCK_DOUBTED: AWAY, Code.OVERLOADED: AWAY, Code.EPOCH_NOT_CURRENT: AWAY, Code.PEER_REFUSED: AWAY,
    Code.LOG_FULL: AWAY,
    Code.OVERSIZED: TOO_LONG, Code.ENCODING_INVALID: TOO_LONG, Code.RATE_LIMITED: TOO_OFTEN,
    Code.INPUT_INVALID: NO_ANSWER, Code.NOT_REGISTERED: NOBODY,
}  # fmt: skip
WAIT: Final = 24.0
"""Seconds after which whoever asked hears that the assistant is away."""

_log = structlog.get_logger(__name__)


class Speaker(Protocol):
    """Whoever asks for people; a `Household` is one."""

    @property
    def users(self) -> list[str]:
        """Who is enrolled."""
        ...

    def is_erased(self, user_id: str) -> bool:
        """Whether the services have erased somebody who is enrolled."""
        ...

    async def ask(self, user_id: str, text: str) -> "Answered":
        """Ask; raises ProxidError."""
        ...


class Answered(Protocol):
    """A verified answer."""

    @property
    def text(self) -> str:
        """In words."""
        ...


class Recogniser(Protocol):
    """What tells home commands from the rest; the shipped classifier is one."""

    def classify(self, text: str) -> Classification:
        """What kind of request a text is."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class Said:
    """What a person hears. code: why there is no answer, None if there is. home: it was not sent, the home acts."""

    text: str
    code: Code | None = None
    home: bool = False


class Asking:
    """See the module.

    Args:
        speaker: the household. recogniser: None where commands are shared. wait: seconds for an answer.
    """

    def __init__(self, speaker: Speaker, recogniser: Recogniser | None, wait: float = WAIT) -> None:
        self._speaker, self._recogniser, self._wait = speaker, recogniser, wait

    async def ask(self, user: str, text: str) -> Said:
        """Ask in somebody's name; raises nothing but CancelledError."""
        text = unicodedata.normalize("NFC", text).strip()
        if user not in self._speaker.users or self._speaker.is_erased(user):
            return Said(NOBODY, Code.NOT_REGISTERED)
        try:
            if self._recogniser is not None and await asyncio.to_thread(self._is_home, text):
                return Said(AT_HOME, home=True)
            async with asyncio.timeout(self._wait):
                return Said((await self._speaker.ask(user, text)).text)
        except TimeoutError:
            return _failed(Code.UPSTREAM_UNREACHABLE)
        except ProxidError as error:
            return said_of(error)
        except Exception as error:  # a person is spoken to, whatever broke
            _log.error("failed", **described(error))
            return _failed(Code.INTERNAL)

    def _is_home(self, text: str) -> bool:
        assert self._recogniser is not None
        return self._recogniser.classify(text).type is RequestType.COMMAND


def said_of(error: ProxidError) -> Said:
    """What a person hears of a failure."""
    # What a refusal came from is said by `remote`; the rule may quote what was asked.
    return _failed(getattr(error, "remote", error.code))


def _failed(code: Code) -> Said:
    return Said(_SAID.get(code, NO_ANSWER), code)
