"""How a responder is called (DESIGN 5.5): nobody waits for another's answer, and whatever it does is an answer or not.

A responder may wait (`async def answer`) or block (`def answer`): one that blocks is called in a thread. It has a time,
and only so many answers may be under way: fewer than requests of one stream, so that the rest is still read.
The built-in skills wait for nothing, and are asked as they are.
"""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import structlog

from main_service.responder.base import Context, Reply, Responder
from main_service.responder.skills import BuiltInSkills
from proxid.errors import ResponderError
from proxid.runtime.transport.fairness import Turn

AT_ONCE: Final = 192
"""Answers under way at once; a question beyond them is refused."""

_WAITS_FOR_NOTHING: Final = BuiltInSkills.answer

_log = structlog.get_logger(__name__)


class Answering:
    """A responder as the request path calls it.

    Args:
        responder: any plug-in. seconds: that an answer may take.
    """

    def __init__(self, responder: Responder, seconds: float) -> None:
        self._responder = responder
        self._waits = getattr(type(responder), "answer", None) is not _WAITS_FOR_NOTHING
        self._seconds = seconds
        self._under_way = 0

    async def answer(self, utterance: str, context: Context, turn: Turn | None = None) -> Reply:
        """The answer.

        Args:
            turn: how long a plug-in took is added to what it has waited.

        Raises:
            ResponderError: it failed, took too long, or gave no text; or too many are under way.
        """
        if not self._waits:
            return await self._called(utterance, context)
        if self._under_way >= AT_ONCE:
            raise ResponderError("too many answers are under way")
        # A task of its own: one that does not let itself be cancelled is left behind, and still counted.
        task = asyncio.ensure_future(self._called(utterance, context))
        self._count(task)
        try:
            with (turn or Turn()).waiting():
                done, _ = await asyncio.wait({task}, timeout=self._seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            task.cancel()
            raise ResponderError("the answer takes too long")
        return task.result()

    def _count(self, task: "asyncio.Task[Reply]") -> None:
        self._under_way += 1

        def ended(done: "asyncio.Task[Reply]") -> None:
            self._under_way -= 1
            if not done.cancelled():
                done.exception()  # nobody may be waiting any more

        task.add_done_callback(ended)

    async def _called(self, utterance: str, context: Context) -> Reply:
        answer: Any = self._responder.answer
        try:
            if inspect.iscoroutinefunction(answer):
                found = await answer(utterance, context)
            else:
                found = await _in_thread(lambda: answer(utterance, context))
            if isinstance(found, Awaitable):
                found = await found
            reply = Reply(found) if isinstance(found, str) else found
            if isinstance(reply, Reply):
                reply.text.encode("utf-8")
                return reply
            kind = type(found).__name__
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            kind = type(error).__name__
        # Its text is not told: it may quote what was said.
        _log.error("responder failed", error_type=kind)
        raise ResponderError("the responder gave no answer")


async def _in_thread(answer: Callable[[], Any]) -> Any:
    """What a call comes to in a thread of its own: its result, or the exception that it ended with.

    A thread cannot be stopped: whoever is cancelled meanwhile ends when it does. It does not outlive the process.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Any] = loop.create_future()

    def tell(found: Any) -> None:
        if not ended.done():
            ended.set_result(found)

    def run() -> None:
        found: Any
        try:
            found = answer()
        except BaseException as error:  # a thread's SystemExit would end it without a word
            found = error
        with suppress(RuntimeError):  # the service has stopped
            loop.call_soon_threadsafe(tell, found)

    threading.Thread(target=run, daemon=True, name="responder").start()
    try:
        return await asyncio.shield(ended)
    except asyncio.CancelledError:
        await asyncio.wait({ended})
        raise
