"""An OpenAI-compatible server answers what no skill knows (DESIGN 5.5): llama.cpp, Ollama, vLLM, LiteLLM and others.

It is told the text, and by choice the locale: no pseudonym, nonce, session or header that names anybody. It is asked
once; whatever goes wrong is a fixed sentence, for the question was received and its evidence must exist.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

import structlog

from main_service.responder.base import Context, Outcome, Reply
from main_service.responder.config import UpstreamSettings
from main_service.responder.stand_ins import put_back, replace
from proxid.classify.types import RequestType
from proxid.errors import MALFORMED, ConfigError
from proxid.regular import regular_text
from proxid.runtime.observability.metrics import RESPONDER_CALLS, RESPONDER_SECONDS
from proxid.runtime.transport.fairness import Turn

if TYPE_CHECKING:
    from proxid.classify.state import State

NEEDED: Final = "responder.upstream needs httpx: install proxid[upstream]"
COMMAND: Final = "Sorry, I can't do that from here."
_CERTAIN: Final = 0.97
"""Of a command: what is less so may be a question, and is asked."""
_LARGEST: Final = 1 << 20
"""Bytes of a server's answer."""
_LONGEST: Final = 4_000
"""Characters that are spoken; a longer answer ends at the last sentence before."""
_FAILURES: Final = 5
"""In a row, after which nobody is asked for _PAUSE seconds; then one question tries."""
_PAUSE: Final = 10.0
_BEGUN: Final = re.compile(r"<think(?:ing)?>|\[THINK\]", re.IGNORECASE)
_ENDED: Final = re.compile(r"</think(?:ing)?>|\[/THINK\]", re.IGNORECASE)
"""How thoughts begin and end that a server leaves in an answer."""

_log = structlog.get_logger(__name__)


@runtime_checkable
class Reader(Protocol):
    """What tells identifiers and commands from the rest; a `Pipeline` is one."""

    def read(self, text: str) -> "State | None":
        """What is known of a text; None of one that cannot be read."""
        ...


class _NoAnswerError(Exception):
    """The server gave none; `status` is its class, 0 for none. fault: the server's, and not the question's."""

    def __init__(self, status: int, fault: bool = True) -> None:
        super().__init__()
        self.status, self.fault = status, fault


class Upstream:
    """Asks one server; `answer` never raises but CancelledError.

    Args:
        reader: needed for `identifiers = "replace"`. now: seconds that only grow.

    Raises:
        ConfigError: httpx is not installed, or the key file cannot be read.
    """

    def __init__(
        self, settings: UpstreamSettings, reader: Reader | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        if find_spec("httpx") is None:
            raise ConfigError(NEEDED)
        import httpx

        self._settings, self._reader, self._now = settings, reader, now
        headers = {"user-agent": "proxid"}
        if settings.key_file is not None:
            headers["authorization"] = f"Bearer {_key(settings.key_file)}"
        # Neither proxies nor credentials of the environment: what leaves is what stands here.
        self._client = httpx.AsyncClient(
            headers=headers, timeout=settings.timeout, trust_env=False, follow_redirects=False,
            limits=httpx.Limits(max_connections=settings.concurrency),
        )  # fmt: skip
        self._places = asyncio.Semaphore(settings.concurrency)
        self._failures, self._closed_until = 0, 0.0

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.aclose()

    @property
    def seconds(self) -> float:
        """That a call may take, waiting included."""
        return self._settings.timeout

    def failed(self, outcome: Outcome) -> Reply:
        """The fixed sentence of a question that got no answer."""
        return Reply(self._settings.failed, outcome)

    async def answer(self, utterance: str, context: Context, turn: Turn | None = None) -> Reply:
        """The server's answer, or a fixed sentence; how long the server took is added to what the turn has waited."""
        begun = self._now()
        reply = await self._answered(utterance, context, turn or Turn())
        RESPONDER_CALLS.labels(reply.outcome.value).inc()
        RESPONDER_SECONDS.observe(self._now() - begun)
        return reply

    async def _answered(self, utterance: str, context: Context, turn: Turn) -> Reply:
        words: dict[str, str] = {}
        if self._settings.identifiers == "replace":
            state = await asyncio.to_thread(self._read, utterance)
            if state is None or state.utterance is None or state.spans is None:
                return self.failed(Outcome.UNREADABLE)
            if state.type is RequestType.COMMAND and state.guess is not None and state.guess.confidence > _CERTAIN:
                return Reply(COMMAND, Outcome.COMMAND)
            utterance, words = replace(state.utterance.clean.shown, state.spans)
        if self._now() < self._closed_until:
            return self.failed(Outcome.REFUSED)
        if self._failures >= _FAILURES:
            # One question tries; the others are not asked until it is known.
            self._closed_until = self._now() + self._settings.timeout
        try:
            async with asyncio.timeout(self._settings.timeout), self._places:
                with turn.waiting():
                    text = await self._asked(utterance, context)
        except TimeoutError:
            return self._broke(Outcome.LATE, 0)
        except _NoAnswerError as error:
            if not error.fault:
                self._is_there()
            return self._broke(Outcome.FAILED, error.status, error.fault)
        self._is_there()
        return Reply(_spoken(put_back(text, words)))

    def _read(self, utterance: str) -> "State | None":
        assert self._reader is not None
        return self._reader.read(utterance)

    def _is_there(self) -> None:
        self._failures, self._closed_until = 0, 0.0

    def _broke(self, outcome: Outcome, status: int, fault: bool = True) -> Reply:
        self._failures += fault
        if self._failures >= _FAILURES:
            self._closed_until = self._now() + _PAUSE
        # What a server says of a failure quotes the question.
        _log.warning("upstream gave no answer", reason=outcome.value, status=status)
        return self.failed(outcome)

    async def _asked(self, utterance: str, context: Context) -> str:
        import httpx

        try:
            async with self._client.stream("POST", self._address, json=self._body(utterance, context)) as response:
                data = b""
                async for part in response.aiter_bytes():
                    data += part
                    if len(data) > _LARGEST:
                        raise _NoAnswerError(0)
        except httpx.TimeoutException:
            raise TimeoutError from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError):
            raise _NoAnswerError(0) from None
        if response.status_code != 200:
            raise _NoAnswerError(response.status_code // 100 * 100)
        return _text(data, self._settings.thinks)

    @property
    def _address(self) -> str:
        return f"{self._settings.url.rstrip('/')}/chat/completions"

    def _body(self, utterance: str, context: Context) -> dict[str, Any]:
        settings = self._settings
        prompt = f"{settings.prompt} The locale is {context.locale}." if settings.locale else settings.prompt
        messages = [{"role": "system", "content": prompt}, {"role": "user", "content": utterance}]
        return {"model": settings.model, "messages": messages, "max_tokens": settings.max_tokens, "stream": False}


def _key(path: Path) -> str:
    try:
        key = regular_text(path, "ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"responder.upstream.key_file cannot be read ({type(error).__name__})") from None
    if not key or any(not "!" <= letter <= "~" for letter in key):
        raise ConfigError("responder.upstream.key_file holds one line, the key")
    return key


def _text(data: bytes, thinks: bool) -> str:
    try:
        choice = json.loads(data)["choices"][0]
        content = choice["message"]["content"]
        content.encode("utf-8")
        text = _said(content, thinks and choice.get("finish_reason") == "length")
    except MALFORMED:
        raise _NoAnswerError(200) from None
    if not text:
        # One person may ask for that again and again: others are asked for all the same.
        raise _NoAnswerError(200, fault=False)
    return text


def _said(content: str, cut: bool) -> str:
    """What comes after a model's thoughts, where its server leaves them in; empty if it has not ended them.

    Args:
        cut: its thoughts may have been begun for it, and there was no room left for their end.
    """
    content = content.strip()
    begun, ended = _BEGUN.match(content), _ENDED.search(content)
    if ended is None:
        return "" if begun or cut else content
    # Without a beginning it is the prompt that began them; a tag in the midst is what the answer speaks of.
    if begun or not _BEGUN.search(content, 0, ended.start()):
        return content[ended.end() :].strip()
    return content


def _spoken(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    cut = text[:_LONGEST]
    end = max(cut.rfind(mark) for mark in (". ", "! ", "? ", "\n"))
    return cut[: end + 1].strip() if end > 0 else cut
