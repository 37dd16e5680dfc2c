"""A call that is over is asked nothing: gRPC has let go of it, and would end the whole process."""

import asyncio
from types import SimpleNamespace
from typing import Any

from proxid.runtime.transport.methods import Revoked


class Gone:
    """The context of a call whose caller has hung up."""

    def auth_context(self) -> Any:
        raise AssertionError("gRPC was asked")


async def test_a_change_of_the_list_does_not_touch_a_call_that_is_over() -> None:
    servicer: Any = SimpleNamespace(peers=SimpleNamespace(identify=lambda context: context.auth_context()))

    async def call() -> Revoked:
        return Revoked(servicer, Gone(), ("party",), endless=True)

    # What it was writing is still held when its task has ended.
    revoked = await asyncio.create_task(call())
    revoked.sending = True
    revoked.look()
    assert revoked.error is None
