"""The gateway tells the time at each epoch's start and asks for the main service's (DESIGN 4.3); clocks are moved."""

import asyncio
from typing import Any, cast

import pytest

from gateway.identity import Screener
from gateway.timekeeping import Timekeeper
from proxid.errors import CredentialError, SignatureInvalidError
from proxid.protocol.epochs import Epochs
from proxid.protocol.opening import EpochOpening, ServiceTime
from proxid.runtime.clock import Clocks, ClockWatch, Doubt
from proxid.runtime.store.clock import ClockKeeper, HeardTime
from tests.support.scene import AUTHORITY, EPOCH, MALLORY, MS, SCREENER, SERVICE

DAY = 86_400


class Shared:
    """What a store keeps of the other side's time."""

    data: bytes | None = None

    async def set(self, key: str, data: str, ex: int) -> None:
        self.data = data.encode()

    async def get(self, key: str) -> bytes | None:
        return self.data

    async def delete(self, key: str) -> None:
        self.data = None


class Services:
    """A gateway, and a main service that answers with its time."""

    def __init__(self) -> None:
        self.truth, self.ours, self.theirs = EPOCH * DAY + 3600.0, 0.0, 0.0
        self.signer, self.replay = SERVICE, b""
        self.openings: list[bytes] = []
        self.store: Any = Shared()
        self.watch = self.process()
        screener = Screener(
            service=MS, key=SCREENER, service_key=SERVICE.public, authority=AUTHORITY.public, secret=bytes(32),
            party_keys={}, epochs=Epochs(DAY), clock=self.wall, watch=self.watch,
        )  # fmt: skip
        heard = HeardTime(self.store, "{gw}", self.watch)
        self.keeper = Timekeeper(screener, cast(Any, self), heard, asyncio.Event())

    def wall(self) -> float:
        return self.truth + self.ours

    def process(self) -> ClockWatch:
        """How one of the gateway's processes sees the clock."""
        return ClockWatch(Clocks(self.wall, lambda: self.truth - EPOCH * DAY), 120.0)

    async def time(self, opening: bytes, nonce: bytes) -> bytes:
        self.openings.append(opening)
        answer = ServiceTime(MS, int((self.truth + self.theirs) * 1000), self.replay or nonce)
        return answer.sign(self.signer).encode()


@pytest.fixture
def services() -> Services:
    return Services()


async def test_both_sides_learn_the_others_time(services: Services) -> None:
    await services.keeper.step()
    opening = EpochOpening.decode(services.openings[0])
    opening.verify(SCREENER.public, MS)
    opening.verify_time(Epochs(DAY))
    assert (opening.epoch, opening.time_ms) == (EPOCH, services.wall() * 1000)
    assert services.watch.confirmed()
    services.theirs = -DAY
    await services.keeper.step()
    assert services.watch.doubt() is Doubt.DIFFERS


async def test_clock_that_was_set_says_of_no_epoch_that_it_has_begun(services: Services) -> None:
    services.ours = DAY
    await services.keeper.step()
    assert services.openings == [b""]
    services.ours = 0.0
    await services.keeper.step()
    assert EpochOpening.decode(services.openings[1]).epoch == EPOCH


async def test_clock_that_was_wrong_from_the_start_says_so(services: Services) -> None:
    """Else the main service would not see that the clocks differ."""
    services.theirs = -DAY
    for _ in range(2):
        await services.keeper.step()
    assert services.watch.doubt() is Doubt.DIFFERS
    assert [EpochOpening.decode(word).epoch for word in services.openings] == [EPOCH, EPOCH]


@pytest.mark.parametrize(("off", "expected"), [(3600.0, 10.0), (DAY - 2.0, 2.0), (DAY - 0.25, 0.25)])
def test_it_is_told_at_an_epochs_start(services: Services, off: float, expected: float) -> None:
    services.truth = EPOCH * DAY + off
    assert services.keeper._until_next() == expected


async def test_only_the_main_services_answer_to_this_question_counts(services: Services) -> None:
    services.theirs, services.signer = DAY, MALLORY
    with pytest.raises(SignatureInvalidError):
        await services.keeper.step()
    services.signer, services.replay = SERVICE, bytes(16)
    with pytest.raises(CredentialError):
        await services.keeper.step()
    assert services.watch.doubt() is None


async def test_processes_of_a_service_share_what_one_of_them_heard(services: Services) -> None:
    other = services.process()
    keeper = ClockKeeper(other, HeardTime(services.store, "{gw}", other), first=False)
    services.theirs = DAY
    await services.keeper.step()
    assert other.doubt() is None
    await keeper.step()
    assert other.doubt() is Doubt.DIFFERS
    restarted = services.process()
    await ClockKeeper(restarted, HeardTime(services.store, "{gw}", restarted), first=True).step()
    assert services.store.data is None and restarted.doubt() is None
