"""Frames around streams of requests: one after another (`ordered_stream`), or many under way (`multiplexed_stream`).

To a call of its own a message on an open stream is cheap (docs/adr/0006), so a device keeps one, and so does IS to MS.
A refusal is an answer like any other, and the stream goes on; it ends when the caller ends it, when its certificate is
taken off the list, or when the service stops, then with the last answer.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import wraps
from typing import Any, Final

import grpc

from proxid.errors import OverloadedError, ProxidError
from proxid.runtime.observability.metrics import GONE, OK, observe_call
from proxid.runtime.transport.methods import Before, Revoked, Servicer, fail, held_back, let_go, note, require
from proxid.runtime.transport.peers import Peer
from proxid.runtime.transport.status import public_code, public_text, pushback_ms

UNDER_WAY: Final = 256
"""Requests of one stream at once; more are not read before some of them are answered, and the answers taken."""
MESSAGE_BYTES: Final = 1024 * 1024
"""Answers of one message together, unless one alone is larger: a quarter of what a peer accepts."""

Refusal = Callable[[str, str, int], Any]
"""Makes a reply of a code, a public text and the milliseconds after which to come back."""

Method = Callable[..., Awaitable[Any]]


class _Talk(Revoked):
    """A stream under way, and whether somebody waits for its next message."""

    def __init__(self, servicer: Servicer, context: Any, roles: Collection[str]) -> None:
        super().__init__(servicer, context, roles)
        self.idle = False
        self.over = False

    def look(self) -> None:
        """Called when the list of peers has changed, or the service stops."""
        if not self._servicer.peers.closed:
            super().look()
            return
        self.over = True
        if self.idle and self._task is not None:
            self._task.cancel()

    def break_off(self, error: Exception) -> None:
        """End the stream with an error, whatever is under way."""
        self.error = error
        if self._task is not None:
            self._task.cancel()

    async def heard(self) -> Any:
        """The next message, or EOF."""
        if self.over:
            return grpc.aio.EOF
        self.idle = True
        try:
            return await self._context.read()
        except asyncio.CancelledError:
            if not self.over or self.error is not None:
                raise
            return grpc.aio.EOF
        finally:
            self.idle = False


async def _frame(
    servicer: Servicer, context: Any, roles: Collection[str], name: str, body: Callable[[_Talk, Peer], Awaitable[None]]
) -> None:
    """Let `body` serve a stream; says how it failed, if it did."""
    talk = _Talk(servicer, context, roles)
    code, start = OK, time.perf_counter()
    try:
        try:
            peer = require(servicer, context, roles)
            with talk.watching(peer), servicer.peers.budget.stream(peer):
                try:
                    await body(talk, peer)
                except ProxidError as error:
                    let_go(error)
                    start += await held_back(servicer, peer, error)
                    raise
        except asyncio.CancelledError:
            if talk.error is None:
                code = GONE
                raise
            raise talk.error from None
    except grpc.aio.AbortError:
        raise
    except Exception as error:
        code = public_code(error).value
        await fail(context, error, name)
    finally:
        observe_call(name, code, time.perf_counter() - start)


def ordered_stream(
    call: str, refusal: Refusal, *roles: str, before: Before | None = None
) -> Callable[[Method], Callable[..., Any]]:
    """Frame a method `(self, request, peer) -> reply` that is called for each message of a stream.

    Args:
        call: what each message is counted and logged as: the method that does the same for a call of its own.
        refusal: the reply that stands for an error. roles: who may call. before: called before a message is parsed.
    """

    def decorate(method: Method) -> Callable[..., Any]:
        async def answered(self: Servicer, raw: Any, peer: Peer) -> Any:
            code, start, broken, request = OK, time.perf_counter(), True, None
            try:
                if before is not None:
                    before(self, peer)
                request = raw.parsed()
                broken = False
                reply = await method(self, request, peer)
                await held_back(self, peer, None)
                return reply
            except asyncio.CancelledError:
                code = GONE
                raise
            except Exception as error:
                code = public_code(error).value
                if broken and not isinstance(error, OverloadedError):  # it ends the stream
                    raise
                code = note(error, call).value
                raw = request = None  # a refusal may wait, and its message is not kept for that
                let_go(error)
                start += await held_back(self, peer, error)
                return refusal(public_code(error).value, public_text(error), pushback_ms(error))
            finally:
                observe_call(call, code, time.perf_counter() - start)

        @wraps(method)
        async def framed(self: Servicer, _requests: Any, context: Any) -> None:
            async def serve(talk: _Talk, peer: Peer) -> None:
                await context.send_initial_metadata(())  # until then its caller opens few others
                while (raw := await talk.heard()) is not grpc.aio.EOF:
                    with self.peers.budget.call(peer, len(raw)):
                        answering, raw = answered(self, raw, peer), None
                        answer = await answering
                    talk.sending = True
                    await context.write(answer)
                    talk.check()

            await _frame(self, context, roles, method.__name__, serve)

        return framed

    return decorate


class _Answers:
    """Answers on their way back: what is done while one message is written goes into the next.

    Args:
        write: takes a message. joined: makes one of several answers. failed: told once if a message cannot be written.
    """

    def __init__(
        self, write: Callable[[Any], Awaitable[None]], joined: Callable[[list[Any]], Any],
        failed: Callable[[Exception], None],
    ) -> None:  # fmt: skip
        self._write, self._joined, self._failed = write, joined, failed
        self._done: list[Any] = []
        self._writing: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Answers that are not on their way yet."""
        return len(self._done)

    def add(self, answer: Any) -> None:
        self._done.append(answer)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())

    async def _write_all(self) -> None:
        try:
            while self._done:
                await self._write(self._joined(self._next()))
        except Exception as error:
            self._failed(error)

    def _next(self) -> list[Any]:
        """As many as fit one message, at least one."""
        size = count = 0
        for answer in self._done:
            size += answer.ByteSize()
            if count and size > MESSAGE_BYTES:
                break
            count += 1
        batch, self._done = self._done[:count], self._done[count:]
        return batch

    async def written(self) -> None:
        """Wait until everything is."""
        if self._writing is not None:
            await self._writing


def multiplexed_stream(
    parts: Callable[[Any], Sequence[Any]], joined: Callable[[list[Any]], Any], *roles: str
) -> Callable[[Method], Callable[..., Any]]:
    """Frame a method `(self, part, peer) -> answer` that is called for all parts of each message, many at once.

    The method tells a refusal by its answer: whatever it raises ends the stream.

    Args:
        parts: of a message; raises ProxidError. joined: the message that holds several answers. roles: who may call.
    """

    def decorate(method: Method) -> Callable[..., Any]:
        @wraps(method)
        async def framed(self: Servicer, _requests: Any, context: Any) -> None:
            running: set[asyncio.Task[None]] = set()

            async def serve(talk: _Talk, peer: Peer) -> None:
                answers = _Answers(context.write, joined, talk.break_off)

                async def answer(part: Any) -> None:
                    try:
                        answers.add(await method(self, part, peer))
                    except Exception as error:
                        talk.break_off(error)

                while (message := await talk.heard()) is not grpc.aio.EOF:
                    for part in parts(message.parsed()):
                        task = asyncio.create_task(answer(part))
                        running.add(task)
                        task.add_done_callback(running.discard)
                    while len(running) >= UNDER_WAY:
                        await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    if len(answers) >= UNDER_WAY:
                        await answers.written()
                if running:
                    await asyncio.wait(running)
                await answers.written()

            try:
                await _frame(self, context, roles, method.__name__, serve)
            finally:
                for task in running:
                    task.cancel()

        return framed

    return decorate
