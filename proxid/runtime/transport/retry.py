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
from proxid.runtime.transport.status import code_of

FIRST_DELAY: Final = 0.1
MAX_DELAY: Final = 3.0

_TRANSIENT: Final = frozenset({Code.UPSTREAM_UNREACHABLE, Code.STORE_UNAVAILABLE, Code.INTERNAL})

T = TypeVar("T")


@dataclass(slots=True)
class Attempts:
    """How often a call is made, and how many calls it took so far."""

    limit: int
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
        RefusedError: the other side gave a code. UpstreamError: it could not be reached in all attempts.
    """
    while True:
        attempts.made += 1
        try:
            return await method()
        except UpstreamError:
            pass
        except RefusedError as error:
            if error.remote not in _TRANSIENT:
                raise
        except grpc.aio.AioRpcError as error:
            code = code_of(error)
            if code is not None and code not in _TRANSIENT:
                raise RefusedError(code) from None
            if code is None and error.code() in _FINAL:
                raise RefusedError(_FINAL[error.code()]) from None
        if attempts.made >= attempts.limit:
            raise UpstreamError("the service cannot be reached")
        await asyncio.sleep(_delay(attempts.made))


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
