"""What a request took is not known if the main service gave no answer in the gateway's own time."""

from typing import Any, cast

import pytest

from gateway.upstream import MainServiceClient
from proxid.errors import UpstreamError
from proxid.runtime.transport.fairness import Turn


class Silent:
    async def ask(self, *_: object) -> Any:
        raise UpstreamError("no answer")


@pytest.mark.parametrize(("seconds", "untold"), [(0.0, True), (3600.0, False)])
async def test_only_what_the_gateway_gave_up_itself_is_not_known(seconds: float, untold: bool) -> None:
    client, turn = MainServiceClient.__new__(MainServiceClient), Turn()
    client._timeout, client._asked = seconds, cast(Any, Silent())
    with pytest.raises(UpstreamError):
        await client._ask_on_stream(cast(Any, None), turn)
    assert turn.untold is untold
