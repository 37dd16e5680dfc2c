"""The frame around every servicer method: who may call, and what a failure tells the caller.

A servicer translates; plain functions work. Errors that proxid raises become a status of the one table;
anything else becomes INTERNAL without a word of its text, which might quote data.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import aclosing, contextmanager
from functools import wraps
from typing import Any, Final, Protocol, TypeVar

import grpc
import structlog

from proxid.errors import Code, OverloadedError, PeerRefusedError, ProxidError, UpstreamError
from proxid.runtime.observability.logging import described
from proxid.runtime.observability.metrics import GONE, OK, observe_call
from proxid.runtime.transport.budget import SERVICE_ROLES
from proxid.runtime.transport.peers import Peer, PeerRegistry
from proxid.runtime.transport.status import public_code, public_text, status_of, trailing
from proxid.runtime.transport.throttle import BROKEN_PAUSE

_log = structlog.get_logger(__name__)

_DAY: Final = 86_400.0
MAX_BATCH: Final = 64
"""Requests of one batch at most."""
MAX_BATCH_SIZE: Final = 131_072
"""Bytes after which a batch takes no further request."""
MAX_BATCH_MESSAGE: Final = 2 * MAX_BATCH_SIZE
"""Bytes of the largest message to the main service: a batch, and the request that filled it, which has 18 kB."""

T = TypeVar("T")

Before = Callable[[Any, Peer], None]
"""Looks at who calls a servicer; raises OverloadedError."""

_BROKEN: Final = frozenset({
    Code.ENCODING_INVALID, Code.OVERSIZED, Code.MESSAGE_INVALID, Code.KEY_INVALID, Code.SIGNATURE_INVALID,
    Code.HEADER_MISMATCH,
})  # fmt: skip
"""What the library's clients are never told of what they send."""


class Servicer(Protocol):
    """What the frame needs of a servicer."""

    peers: PeerRegistry


async def outcome(work: Awaitable[T], method: str) -> T | Code:
    """What one request of a batch comes to: its reply, or its error's code; counted and logged as a call of its own."""
    code, start = OK, time.perf_counter()
    try:
        return await work
    except asyncio.CancelledError:
        code = GONE
        raise
    except Exception as error:
        found = note(error, method)
        code = found.value
        return found
    finally:
        observe_call(method, code, time.perf_counter() - start)


def note(error: Exception, method: str) -> Code:
    """Log a failed call; its code (what the caller is told of it, `public_code` says)."""
    if isinstance(error, ProxidError):
        # Who has no time to answer has none to write it down: the metrics count it.
        if not isinstance(error, OverloadedError):
            _log.info("refused", method=method, code=error.code.value)
        return error.code
    _log.error("failed", method=method, **described(error))
    return Code.INTERNAL


async def fail(context: Any, error: Exception, method: str) -> None:
    """Answer a call with an error's status; never returns."""
    note(error, method)
    status, text, metadata = status_of(error), public_text(error), trailing(error)
    let_go(error)
    await context.abort(status, text, metadata)


def let_go(error: BaseException) -> None:
    """Drop what led to an error: its frames hold the caller's message.

    gRPC keeps what ended a call in a circle with the call, until the garbage collector comes by, which counts objects
    and not bytes: a few hundred refused messages of a few MB would be a GB by then.
    """
    error.__traceback__ = error.__context__ = error.__cause__ = None


def require(servicer: Servicer, context: Any, roles: Collection[str]) -> Peer:
    """The caller, if it has one of the roles; raises PeerRefusedError."""
    peer = servicer.peers.identify(context)
    if peer.role not in roles:
        raise PeerRefusedError("this role may not make this call")
    return peer


async def held_back(servicer: Servicer, peer: Peer, error: Exception | None) -> float:
    """Count how a caller's message ended; seconds that a refusal waited here, of a caller that heeds none.

    Another refusal is neither: what costs its caller nothing must not make up for what it does not heed. Of messages
    that are broken a caller has few; who has more hears of each later.
    """
    begun, heed, pause = time.monotonic(), servicer.peers.heed, 0.0
    if error is None or isinstance(error, OverloadedError):
        ignores = heed.ignores(peer, begun, error is None)
        pause = error.pushback if ignores and isinstance(error, OverloadedError) else 0.0
    elif isinstance(error, ProxidError) and error.code in _BROKEN and peer.role not in SERVICE_ROLES:
        pause = BROKEN_PAUSE if heed.breaks(peer, begun) else 0.0
    if not pause:
        return 0.0
    await servicer.peers.pause(pause)
    return time.monotonic() - begun


def unary(
    *roles: str, before: Before | None = None
) -> Callable[[Callable[..., Awaitable[Any]]], Callable[..., Awaitable[Any]]]:
    """Frame a method `(self, request, peer) -> reply` for callers of some roles.

    Args:
        before: called before a message is parsed.
    """

    def decorate(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(method)
        async def framed(self: Servicer, request: Any, context: Any) -> Any:
            code, start = OK, time.perf_counter()
            try:
                peer = require(self, context, roles)
                with self.peers.budget.call(peer, len(request)):
                    try:
                        if before is not None:
                            before(self, peer)
                        reply = await method(self, request.parsed(), peer)
                    except ProxidError as error:
                        request = None
                        let_go(error)
                        start += await held_back(self, peer, error)
                        raise
                    await held_back(self, peer, None)
                    return reply
            except grpc.aio.AbortError:
                raise
            except asyncio.CancelledError:
                code = GONE
                raise
            except Exception as error:
                code, request = error.code.value if isinstance(error, ProxidError) else Code.INTERNAL.value, None
                await fail(context, error, method.__name__)
            finally:
                observe_call(method.__name__, code, time.perf_counter() - start)

        return framed

    return decorate


class Revoked:
    """Ends a long call, however idle, once its caller's certificate is taken off the list, or ends.

    Args:
        endless: the call never ends by itself, so it also ends when the service stops.

    Attributes:
        sending: a message is on its way. gRPC cannot send a status beside it, so the call ends after it (`check`).
    """

    def __init__(self, servicer: Servicer, context: Any, roles: Collection[str], endless: bool = False) -> None:
        self._servicer, self._context, self._roles = servicer, context, roles
        self._task = asyncio.current_task()
        self._endless = endless
        self.error: Exception | None = None
        self.sending = False

    def look(self) -> None:
        """Whether the caller may still make this call; if not, the call's task is cancelled."""
        # What a caller left unread keeps the call here for a moment, when gRPC has freed what it would be asked for.
        if self._task is not None and self._task.done():
            return
        try:
            require(self._servicer, self._context, self._roles)
            if self._endless and self._servicer.peers.closed:
                raise UpstreamError("the service stops")
        except (PeerRefusedError, UpstreamError) as error:
            self.error = error
            if self._task is not None and not self.sending:
                self._task.cancel()

    @contextmanager
    def watching(self, peer: Peer) -> Iterator[None]:
        """Look at every change of the list, when the service stops, and when the peer's certificate ends."""
        loop, timer = asyncio.get_running_loop(), list[asyncio.TimerHandle]()

        def wait() -> None:
            left = peer.ends - self._servicer.peers.clock()
            # Looked at once a day at least: a wall clock may be set.
            timer[:] = [loop.call_later(max(0.0, min(left, _DAY)), self.look if left <= _DAY else wait)]

        if peer.ends < math.inf:
            wait()
        with self._servicer.peers.watching(self.look):
            try:
                yield
            finally:
                for handle in timer:
                    handle.cancel()

    def check(self) -> None:
        """Raise what the call ends with, if it was to end while a message was on its way."""
        self.sending = False
        if self.error is not None:
            raise self.error


def streaming(
    *roles: str, endless: bool = False
) -> Callable[[Callable[..., AsyncIterator[Any]]], Callable[..., AsyncIterator[Any]]]:
    """Frame a method `(self, request, peer) -> replies…` for callers of some roles.

    Args:
        endless: it follows what is to come; it ends when the service stops.
    """

    def decorate(method: Callable[..., AsyncIterator[Any]]) -> Callable[..., AsyncIterator[Any]]:
        @wraps(method)
        async def framed(self: Servicer, request: Any, context: Any) -> AsyncIterator[Any]:
            code, start = OK, time.perf_counter()
            revoked = Revoked(self, context, roles, endless)
            try:
                peer = require(self, context, roles)
                with revoked.watching(peer), self.peers.budget.stream(peer):
                    replies: Any = method(self, request.parsed(), peer)
                    async with aclosing(replies):
                        async for reply in replies:
                            revoked.sending = True
                            yield reply
                            revoked.check()
            except grpc.aio.AbortError:
                raise
            except (asyncio.CancelledError, GeneratorExit):
                if revoked.error is None:
                    code = GONE
                    raise
                code = public_code(revoked.error).value
                await fail(context, revoked.error, method.__name__)
            except Exception as error:
                code, request = error.code.value if isinstance(error, ProxidError) else Code.INTERNAL.value, None
                await fail(context, error, method.__name__)
            finally:
                observe_call(method.__name__, code, time.perf_counter() - start)

        return framed

    return decorate
