"""What the main service is owed of an epoch goes with that, by a clock that can be relied on alone."""

from types import SimpleNamespace
from typing import Any

import pytest

from gateway.consents import Consents
from gateway.links import Links
from gateway.objections import Objections
from proxid.errors import ClockError
from proxid.protocol.epochs import Epochs
from proxid.runtime.clock import Clocks, ClockWatch

ANY: Any = None
EPOCH, DAY = 7, 86_400.0


class Owing:
    """A store that owes something, until it is said that it does not."""

    def __init__(self) -> None:
        self.owed, self.coming = True, lambda: 0

    async def owes_no_more(self, _: str) -> None:
        self.owed = False

    async def owed_consents(self, *_: Any) -> list[bytes]:
        return []

    async def owed_objection(self, _: str) -> None:
        return None

    async def call(self, *_: Any) -> Any:
        return [[None] * 4, [], [], []]


@pytest.mark.parametrize("owed", ["consents", "objections", "links"])
async def test_a_clock_that_was_set_ends_nothing(owed: str) -> None:
    clock = SimpleNamespace(set=0.0)
    wall = lambda: EPOCH * DAY + 100.0 + clock.set  # noqa: E731
    screener: Any = SimpleNamespace(
        watch=ClockWatch(Clocks(wall, lambda: 50.0), 120.0), clock=wall, epochs=Epochs(int(DAY))
    )
    store: Any = Owing()
    tell = {
        "consents": lambda: Consents(screener, store, ANY, ANY, ANY, ANY).tell("ann", EPOCH),
        "objections": lambda: Objections(screener, store, ANY, ANY, ANY, ANY).tell("ann"),
        "links": lambda: Links(screener, store, ANY, ANY).tell("ann", EPOCH),
    }[owed]
    clock.set = 2 * DAY
    with pytest.raises(ClockError):
        await tell()
    assert store.owed
    clock.set = 0.0
    await tell()
    assert store.owed is (owed == "objections")  # it goes once it is recorded
