"""Which engines there are; that they count alike is `tests/peers/test_spark.py`."""

import pytest

from proxid.errors import ConfigError
from proxid.lab.release.engines import open_engine


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ConfigError):
        open_engine("abacus")
