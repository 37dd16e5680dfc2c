"""What somebody types that is no text is told as that, before the agent is asked."""

import grpc
import pytest

from proxid.clients.household.remote_home import RemoteHome
from proxid.errors import EncodingError
from proxid.protocol.rights import Right

BYTES = b"\xff".decode("utf-8", "surrogateescape")
"""As Python reads bytes of a command line that are no UTF-8."""


async def test_bytes_that_are_no_text_are_refused() -> None:
    async with grpc.aio.insecure_channel("unix:/nowhere") as channel:
        home = RemoteHome(channel)
        for asked in (
            home.ask(BYTES, "x"),
            home.ask("ann", BYTES),
            home.consent("ann", BYTES),
            home.right(BYTES, Right.ACCESS),
        ):
            with pytest.raises(EncodingError):
                await asked
