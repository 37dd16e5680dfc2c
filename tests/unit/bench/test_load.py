"""`proxid bench load`: what cannot be measured is refused; what was counted comes out as the figures say."""

import math
import time

import pytest

from bench.load import Options, threefold
from bench.load.asking import Asked, Refusals, answered_within, per_second, settled
from proxid.errors import InputError


@pytest.mark.parametrize(("name", "value"), [("seconds", "5"), ("share", "0"), ("share", "2"), ("people", "x")])
def test_options_that_cannot_be_measured_are_refused(name: str, value: str) -> None:
    with pytest.raises(InputError):
        Options.parse({name: value})
    assert Options.parse({"another": "1", "share": "0.5"}) == Options(share=0.5)


def test_answers_count_in_the_second_in_which_they_come_and_late_ones_never() -> None:
    asked = [Asked(100.0, 0.5), Asked(100.2, 1.0), Asked(101.0, 4.5), Asked(101.5, math.inf), Asked(102.0, 0.1)]
    assert per_second(asked, 4.0, 0, 4) == [1, 1, 1, 0]
    assert per_second(asked, 4.0, 1, 4) == [1, 1, 0]
    assert answered_within(asked, 4.0) == 0.6


def test_a_house_has_recovered_when_no_later_second_has_more_than_one_in_twenty_unanswered() -> None:
    good = [Asked(10 + n / 20, 0.1) for n in range(100)]
    assert settled(good, 10, 4.0) == 0.0
    assert settled([*good, Asked(10.5, math.inf), Asked(10.6, math.inf), Asked(12.3, math.inf)], 10, 4.0) == 1.0


class Refused:
    """Devices that are refused once for every two answers while so many questions are under way."""

    def __init__(self) -> None:
        self.asked, self.refusals, self.lag = list[Asked](), Refusals(), 0.0

    async def closed(self, _: int, seconds: float) -> float:
        self.refusals.told += [Asked(0.0, 0.1)] * int(4 * seconds)
        self.refusals.own += int(seconds)
        return 10.0

    def begin(self) -> None:
        self.refusals = Refusals()

    async def open(self, rate: float, seconds: float) -> None:
        self.asked += [Asked(time.monotonic(), 0.1)] * int(rate * seconds)

    async def end(self) -> None:
        pass


async def test_a_capacity_that_was_measured_while_a_house_refused_is_told_as_such() -> None:
    """It is less than what the house can do, and what is told over it is more."""
    found = await threefold(Refused(), Options(seconds=10))  # type: ignore[arg-type]
    assert found["capacity_per_s"]["value"] == 10.0
    assert found["refusals_per_answer_at_capacity"]["value"] == 0.5
