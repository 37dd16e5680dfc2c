"""Calls of a client: what failed on the way is tried again, what the other side refused is not (DESIGN 5.2(5)).

A retry sends the very same message, nonce included, so that it counts once however often it arrives.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import grpc

from proxid.errors import Code, RefusedError, UpstreamError
from proxid.runtime.transport.reach import reached
from proxid.runtime.transport.status import code_of

FIRST_DELAY: Final = 0.1
MAX_DELAY: Final = 3.0

_TRANSIENT: Final = frozenset({Code.UPSTREAM_UNREACHABLE, Code.STORE_UNAVAILABLE, Code.INTERNAL})

T = TypeVar("T")


@dataclass(slots=True)
class Attempts:
    """How often a call is made, and how many calls it took so far.

    Attributes:
        peer: who is called, role and HOST:PORT, for messages.
    """

    limit: int
    peer: str = "the service"
    made: int = 0

    @property
    def retries(self) -> int:
        """Calls after the first."""
        return max(0, self.made - 1)


async def call(method: Callable[[], Awaitable[T]], attempts: Attempts) -> T:
    """The reply of a call that may be repeated.

    Args:
        method: makes it once; raises AioRpcError, or what this function raises.

    Raises:
        RefusedError: the other side gave a code. UpstreamError: it could not be reached in all attempts; its rule says
            who, why and what to try.
    """
    while True:
        attempts.made += 1
        try:
            return await method()
        except UpstreamError as error:
            why = error.rule
        except RefusedError as error:
            if error.remote not in _TRANSIENT:
                raise refused(error.remote, attempts.peer) from None
            why = _AWAY[error.remote]
        except grpc.aio.AioRpcError as error:
            code = code_of(error)
            final = code if code is not None and code not in _TRANSIENT else None
            if code is None:
                final = _FINAL.get(error.code())
            if final is not None:
                raise refused(final, attempts.peer) from None
            why = unreached(error)
        if attempts.made >= attempts.limit:
            raise UpstreamError(f"{attempts.peer}: {why}")
        await asyncio.sleep(_delay(attempts.made))


def refused(code: Code, peer: str) -> RefusedError:
    """The error for a code that a peer gave: who, and what to try where that is known."""
    hint = _HINTS.get(code)
    return RefusedError(code, f"refused by {peer} ({code.value})" + (f": {hint}" if hint else ""))


def unreached(error: grpc.aio.AioRpcError) -> str:
    """What kept a failed call that may be repeated from its answer, and what to try."""
    code = code_of(error)
    if code in _AWAY:
        return _AWAY[code]
    found = reached(error)
    return f"{found.text}; {found.next}"


_AWAY: Final = {
    Code.UPSTREAM_UNREACHABLE: "answers, but cannot reach the service behind it; try again later",
    Code.STORE_UNAVAILABLE: "answers, but its store is away; try again later",
    Code.INTERNAL: "has failed; its operator finds the reason in its log",
}
"""What is said of the codes of `_TRANSIENT` when all attempts are used up."""

_HINTS: Final = {
    Code.PEER_REFUSED: "it does not list this certificate, or it has ended; proxid doctor says which",
    Code.NOT_REGISTERED: "the person was erased, or is not enrolled under this key",
    Code.NOT_FRESH: "compare this machine's clock",
    Code.RATE_LIMITED: "ask again in a minute",
    Code.OBJECTED: "the person has objected; proxid device rights resume takes that back",
    Code.LOG_FULL: "its evidence cannot be written; ask again later",
    Code.CLOCK_DOUBTED: "it cannot rely on its clock; ask again later",
    Code.UPSTREAM_CLOCK_DOUBTED: "the service behind it cannot rely on its clock; ask again later",
    Code.NO_COMMON_POLICY: "its operators have to activate one policy at both services",
    Code.NAME_ALIKE: "the name looks like that of somebody who is enrolled; take another",
}
"""What to try after a refusal."""


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
    return full * (0.5 + os.urandom(1)[0] / 512)
