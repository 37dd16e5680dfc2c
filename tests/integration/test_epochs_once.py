"""An epoch is opened once: none is opened at or before a closed one, whatever a clock says (DESIGN 4.3)."""

from typing import Any, cast

import pytest
from redis.asyncio import Redis

from main_service.epochs import EpochKeys
from main_service.service import Service
from main_service.store.epochs import EpochStore
from main_service.store.library import library
from proxid.errors import EpochError
from proxid.protocol.epochs import Epochs
from tests.support.scene import MS, SCREENER, SERVICE, opening_key

DAY = 86_400
TODAY = 20_000
HELD = [bytes(32)]


class Documents:
    """One policy document, whatever it says, counts in every epoch."""

    def usable(self, epoch: int) -> list[bytes]:
        return HELD

    def terms(self, digest: bytes) -> Any:
        return None


class Clock:
    """Stands still until told otherwise."""

    now = TODAY * DAY + 3600.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def keys(client: Redis, clock: Clock) -> tuple[EpochKeys, EpochStore]:
    functions = library(client)
    await functions.load()
    service = Service(
        name=MS, key=SERVICE, screener=SCREENER.public, auditor=opening_key("auditor").public, parties={},
        epochs=Epochs(DAY), clock=clock,
    )  # fmt: skip
    store = EpochStore(functions)
    return EpochKeys(service, store, cast(Any, Documents())), store


async def test_closed_epoch_is_not_opened_again(keys: tuple[EpochKeys, EpochStore], client: Redis) -> None:
    epochs, store = keys
    await epochs.open(TODAY, HELD)
    await store.close(TODAY)
    epochs.forget(TODAY)
    with pytest.raises(EpochError):
        await epochs.open(TODAY, HELD)
    assert await store.open_epochs() == []
    events = await client.xrange("{ms}:events")
    assert [fields[b"t"] for _, fields in events] == [b"EPOCH_OPENED", b"EPOCH_CLOSED"]


async def test_nothing_is_opened_before_a_closed_epoch(keys: tuple[EpochKeys, EpochStore], clock: Clock) -> None:
    epochs, store = keys
    clock.now += DAY
    await epochs.open(TODAY + 1, HELD)
    await store.close(TODAY + 1)
    clock.now -= DAY
    with pytest.raises(EpochError):
        await epochs.open(TODAY, HELD)
    clock.now += 2 * DAY
    assert (await epochs.open(TODAY + 2, HELD)).epoch == TODAY + 2


@pytest.mark.parametrize(("off", "good"), [(-119.0, True), (-121.0, False)])
async def test_gateway_that_is_a_little_ahead_is_followed(
    keys: tuple[EpochKeys, EpochStore], clock: Clock, off: float, good: bool
) -> None:
    epochs, _ = keys
    clock.now = (TODAY + 1) * DAY + off
    if good:
        assert (await epochs.open(TODAY + 1, HELD)).epoch == TODAY + 1
    else:
        with pytest.raises(EpochError):
            await epochs.open(TODAY + 1, HELD)
