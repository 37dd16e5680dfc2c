"""`proxid bench load`: what cannot be measured is refused; what was counted comes out as the figures say."""

import math

import pytest

from bench.load import Options
from bench.load.asking import Asked, answered_within, per_second, settled
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
