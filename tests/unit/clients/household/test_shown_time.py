"""What a device shows of its clock: nothing that tells its people and days from other devices'."""

import random
from statistics import median

import pytest

from proxid.clients.household.shown_time import STEP, ShownTime
from proxid.protocol.epochs import Epochs

DAY = 86_400
DEVICES, REQUESTS = 40, 12
SKEW = 120.0
EPOCHS = Epochs(DAY)
Seen = list[tuple[float, int]]
"""Of each request of one pseudonym: when it came, and the time in its header (ms)."""


def shown(offset: float, day: int, source: random.Random, form: str) -> Seen:
    """A day of a device whose clock is `offset` seconds off, over a network that takes 20 to 200 ms."""
    true = float(day * DAY + source.uniform(0, 3600))
    clock = ShownTime(lambda: true + offset, EPOCHS, SKEW)
    if form == "synchronised":
        asked = true + offset
        told = int((true + source.uniform(0.02, 0.2)) * 1000)
        true += source.uniform(0.22, 0.4)
        clock.heard(told, asked)
    seen = []
    for _ in range(REQUESTS):
        true += source.uniform(60, 3600)
        time_ms = int((true + offset) * 1000) if form == "own clock" else clock.ms()
        seen.append((true + source.uniform(0.02, 0.2), time_ms))
    return seen


def off_by(seen: Seen, steps: bool) -> float:
    """The attack: how far off the clock is, as the main service would guess; of steps, where all of them agree best."""
    ahead = [time_ms / 1000 - came for came, time_ms in seen]
    return (max(ahead) + min(ahead)) / 2 if steps else median(ahead)


def linked(form: str, seed: int) -> float:
    """Share of pseudonyms of a day whose device is named from the day before, by how far off their clocks are."""
    source = random.Random(seed)
    offsets = [source.uniform(-60, 60) for _ in range(DEVICES)]
    days = [[off_by(shown(one, day, source, form), form != "own clock") for one in offsets] for day in (20_000, 20_001)]
    named = [min(range(DEVICES), key=lambda i: abs(days[0][i] - guess)) for guess in days[1]]
    return sum(i == guess for i, guess in enumerate(named)) / DEVICES


def test_days_of_a_device_are_linked_by_its_own_clock_and_not_by_the_gateways_in_steps() -> None:
    """Chance is one in forty."""
    found = {
        form: sum(linked(form, seed) for seed in range(10)) / 10
        for form in ("own clock", "own clock in steps", "synchronised")
    }
    assert found["own clock"] > 0.9
    assert found["own clock in steps"] > 0.15  # steps alone do not do
    assert found["synchronised"] < 0.06, found


@pytest.mark.parametrize("offset", [-100.0, -7.3, 0.0, 55.5])
def test_a_clock_that_is_off_shows_the_gateways_time(offset: float) -> None:
    true = 20_000 * DAY + 1_007.0
    clock = ShownTime(lambda: true + offset, EPOCHS, SKEW)
    assert clock.due
    clock.heard(int(true * 1000), true + offset)
    assert not clock.due
    assert clock.ms() == (20_000 * DAY + 1_020) * 1000


def test_a_gateway_moves_no_clock_by_more_than_the_skew() -> None:
    true = 20_000 * DAY + 600.0
    clock = ShownTime(lambda: true, EPOCHS, SKEW)
    clock.heard(int((true + 500) * 1000), true)
    assert clock.ms() == int(true * 1000)


@pytest.mark.parametrize("seconds", [86_400, 61])
def test_no_step_lies_in_another_epoch(seconds: int) -> None:
    epochs, start = Epochs(seconds), 30_000 * seconds
    for second in (0.0, 0.4, 14.9, 15.1, seconds - 15.1, seconds - 14.9, seconds - 0.1):
        clock = ShownTime(lambda now=start + second: now, epochs, SKEW)  # type: ignore[misc]
        assert epochs.number(clock.ms() / 1000) == epochs.number(start + second)
        assert abs(clock.ms() / 1000 - start - second) <= STEP
