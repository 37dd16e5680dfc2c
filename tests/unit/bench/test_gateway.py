"""Options of `proxid bench gateway`: what cannot be measured is refused before anything starts."""

import pytest

from bench.gateway import Options
from proxid.errors import InputError


@pytest.mark.parametrize("name", ["requests", "rounds", "workers", "people", "echo_seconds", "concurrency"])
@pytest.mark.parametrize("value", ["0", "-1", "many", "nan", "inf"])
def test_an_option_is_a_number_above_zero(name: str, value: str) -> None:
    with pytest.raises(InputError):
        Options.parse({name: value})


def test_no_more_calls_than_one_connection_may_have() -> None:
    with pytest.raises(InputError, match="128"):
        Options.parse({"concurrency": "129"})


def test_options_have_defaults() -> None:
    assert Options.parse({}) == Options() and Options.parse({"concurrency": "128"}).concurrency == 128
