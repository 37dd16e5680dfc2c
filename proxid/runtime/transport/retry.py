"""Calls of a client: what failed on the way is tried again, what the other side refused is not (DESIGN 5.2(5), 5.7).

A retry sends the very same message, nonce included, so that it counts once however often it arrives. Retries must not
be what keeps a service down: who is told that it is overloaded comes back twice at most, when it was told to; what
cannot be reached is tried again within the caller's time, and all calls of a process share what they may try.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

import grpc

from proxid.errors import STEPS, Code, OverloadedError, RefusedError, UpstreamError
from proxid.runtime.transport.reach import reached
from proxid.runtime.transport.status import code_of, pushback_of

FIRST_DELAY: Final = 0.1
MAX_DELAY: Final = 3.0
SECONDS: Final = 90.0
"""Of a caller's time, unless it says otherwise: a service may take half a minute to start again."""
PUSHED_BACK: Final = 2
"""Times at most that an overloaded service is asked again."""

_TRANSIENT: Final = frozenset({Code.UPSTREAM_UNREACHABLE, Code.STORE_UNAVAILABLE, Code.INTERNAL})

T = TypeVar("T")


@dataclass(slots=True)
class Attempts:
    """How often and for how long a call is made, and how many calls it took so far.

    Attributes:
        peer: who is called, role and HOST:PORT, for messages. until: monotonic time when the caller gives up.
        pushed: calls that found the service overloaded.
    """

    limit: int
    peer: str = "the service"
    made: int = 0
    until: float = field(default_factory=lambda: time.monotonic() + SECONDS)
    pushed: int = 0

    @property
    def retries(self) -> int:
        """Calls after the first."""
        return max(0, self.made - 1)


class RetryBudget:
    """A token bucket: a retry takes a token, an answer gives one back, and a few come by themselves.

    Whoever finds none reserves one to come: retries of many callers keep their distance instead of failing. Times are
    seconds of any one clock that does not go back.

    Args:
        rate: tokens a second. most: tokens that are kept.
    """

    def __init__(self, rate: float = 20.0, most: float = 100.0) -> None:
        self._rate, self._most = rate, most
        self._tokens, self._counted = most, 0.0

    def take(self, now: float, until: float) -> float | None:
        """Seconds until the caller may try again; None if that is after `until`, and nothing is taken."""
        self._grow(now)
        wait = max(0.0, (1.0 - self._tokens) / self._rate)
        if now + wait > until:
            return None
        self._tokens -= 1.0
        return wait

    def answered(self) -> None:
        """A call was answered."""
        self._tokens = min(self._most, self._tokens + 1.0)

    def _grow(self, now: float) -> None:
        self._tokens = min(self._most, self._tokens + self._rate * max(0.0, now - self._counted))
        self._counted = now


_BUDGET: Final = RetryBudget()
"""This process's."""


async def call(method: Callable[[], Awaitable[T]], attempts: Attempts) -> T:
    """The reply of a call that may be repeated.

    Args:
        method: makes it once; raises AioRpcError, or what this function raises.

    Raises:
        RefusedError: the other side gave a code. UpstreamError: it could not be reached in all attempts. Both say who,
            why and what to try.
    """
    while True:
        attempts.made += 1
        try:
            found = await method()
        except UpstreamError as error:
            why = (error.rule, error.next)
        except OverloadedError as error:
            await _pushed_back(attempts, error.pushback)
            continue
        except RefusedError as error:
            if error.remote not in _TRANSIENT:
                raise refused(error.remote, attempts.peer) from None
            why = _AWAY[error.remote]
        except grpc.aio.AioRpcError as error:
            code = code_of(error)
            if code is Code.OVERLOADED:
                await _pushed_back(attempts, pushback_of(error))
                continue
            final: Code | None = code if code is not None and code not in _TRANSIENT else None
            if code is None:
                final = _FINAL.get(error.code())
            if final is not None:
                raise refused(final, attempts.peer) from None
            why = _reason(error)
        else:
            _BUDGET.answered()
            return found
        await _unreachable(attempts, why)


async def _pushed_back(attempts: Attempts, pushback: float) -> None:
    """Wait as an overloaded service says, and up to as long again, so that not all come back at once."""
    attempts.pushed += 1
    delay = (pushback or MAX_DELAY) * (1 + _random())
    if attempts.pushed > PUSHED_BACK or time.monotonic() + delay > attempts.until:
        raise refused(Code.OVERLOADED, attempts.peer) from None
    await asyncio.sleep(delay)


async def _unreachable(attempts: Attempts, why: tuple[str, str]) -> None:
    delay = _delay(attempts.made)
    now = time.monotonic()
    wait = None
    if attempts.made < attempts.limit and now + delay <= attempts.until:
        wait = _BUDGET.take(now, attempts.until)
    if wait is None:
        raise _upstream(attempts.peer, why) from None
    await asyncio.sleep(max(delay, wait))


def refused(code: Code, peer: str) -> RefusedError:
    """The error for a code that a peer gave: who, and what to try where that is known."""
    return RefusedError(code, f"refused by {peer} ({code.value})").at(peer, STEPS[code].next)


def unreached(error: grpc.aio.AioRpcError, peer: str) -> UpstreamError:
    """The error for a failed call that may be repeated: who, what kept it from its answer, and what to try."""
    return _upstream(peer, _reason(error))


def _upstream(peer: str, why: tuple[str, str]) -> UpstreamError:
    return UpstreamError(f"{peer}: {why[0]}").at(peer, why[1])


def _reason(error: grpc.aio.AioRpcError) -> tuple[str, str]:
    code = code_of(error)
    if code in _AWAY:
        return _AWAY[code]
    found = reached(error)
    return found.text, found.next


_AWAY: Final = {
    Code.UPSTREAM_UNREACHABLE: ("answers, but cannot reach the service behind it", "try again later"),
    Code.STORE_UNAVAILABLE: ("answers, but its store is away", "try again later"),
    Code.INTERNAL: ("has failed", "its operator finds the reason in its log"),
}
"""What is said of the codes of `_TRANSIENT` when all attempts are used up."""

_FINAL: Final = {
    grpc.StatusCode.UNIMPLEMENTED: Code.INTERNAL,
    grpc.StatusCode.RESOURCE_EXHAUSTED: Code.OVERSIZED,
    grpc.StatusCode.UNAUTHENTICATED: Code.PEER_REFUSED,
    grpc.StatusCode.PERMISSION_DENIED: Code.PEER_REFUSED,
}
"""Statuses that gRPC itself gives and that another attempt would not change."""


def _delay(made: int) -> float:
    full = min(MAX_DELAY, FIRST_DELAY * 2.0 ** (made - 1))
    # Half of it at random, so that many devices do not come back in step.
    return full * (0.5 + _random() / 2)


def _random() -> float:
    return os.urandom(1)[0] / 256
