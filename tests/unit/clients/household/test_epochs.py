"""A device renews what is said to be out of use: epoch, its key, its link (DESIGN 4.3); a caller hears nothing."""

import pytest

from proxid.clients.household.config import DeviceConfig
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.identity import EpochKey
from proxid.errors import Code, RefusedError
from tests.support.fake_gateway import MS, POLICY, SERVICE, FakeGateway
from tests.unit.clients.household.test_household import DAY, Clock, config, gateway, household

__all__ = ["config", "gateway"]


async def test_lost_link_is_made_again(config: DeviceConfig, gateway: FakeGateway) -> None:
    device = household(config, gateway)
    await device.ask("ann", "x")
    gateway.refuse = [Code.NOT_REGISTERED]
    assert (await device.ask("ann", "y")).text == "ok"
    assert len(gateway.links) == 2
    assert gateway.links[0] == gateway.links[1]


async def test_link_that_does_not_help_is_not_repeated_for_ever(config: DeviceConfig, gateway: FakeGateway) -> None:
    gateway.refuse = [Code.NOT_REGISTERED] * 20
    with pytest.raises(RefusedError) as caught:
        await household(config, gateway).ask("ann", "x")
    assert caught.value.remote is Code.NOT_REGISTERED
    assert len(gateway.links) < 5


async def test_stale_key_is_fetched_anew_for_everybody(config: DeviceConfig, gateway: FakeGateway) -> None:
    device = household(config, gateway)
    for user in ("ann", "bob"):
        await device.ask(user, "x")
    other = OpeningKey(bytes(reversed(range(96))))
    gateway.epoch_key = EpochKey(SERVICE, 20_000, other.public.data, bytes(32), POLICY.digest).issue(MS)
    gateway.refuse, gateway.seal = [Code.EPOCH_KEY_STALE], other
    for user in ("ann", "bob"):
        assert (await device.ask(user, "y")).text == "ok"
    # The epoch is the same, and so is each user's own key in it.
    assert len({link.epoch_key for link in gateway.links}) == 2


async def test_key_that_is_said_to_be_stale_and_is_not_is_no_loop(config: DeviceConfig, gateway: FakeGateway) -> None:
    gateway.refuse = [Code.EPOCH_KEY_STALE] * 20
    with pytest.raises(RefusedError) as caught:
        await household(config, gateway).ask("ann", "x")
    assert caught.value.remote is Code.EPOCH_KEY_STALE
    assert len(gateway.refuse) == 19


async def test_consent_at_an_epochs_end_is_given_in_the_next(config: DeviceConfig, gateway: FakeGateway) -> None:
    clock = Clock()
    clock.now = 20_001 * DAY - 2.0
    device = household(config, gateway, clock)
    await device.session("ann")
    gateway.epoch, gateway.consent_fails = 20_001, [RefusedError(Code.EPOCH_NOT_CURRENT)]
    clock.now += 1.0
    assert await device.consent("ann", "all") == 1
    assert [message.header.epoch for _, message in gateway.consents] == [20_000, 20_001]


@pytest.mark.parametrize("off", [-2.0, 2.0], ids=["behind", "ahead"])
async def test_device_goes_by_the_gateways_epoch(config: DeviceConfig, gateway: FakeGateway, off: float) -> None:
    clock = Clock()
    gateway.strict = True
    device = household(config, gateway, clock)
    for second in range(-4, 5):
        gateway.epoch = 20_000 if second < 0 else 20_001
        clock.now = 20_001 * DAY + second + off
        await device.ask("ann", "x")
        assert gateway.asked[-1].header.epoch == gateway.epoch
    assert gateway.fetched <= 4
