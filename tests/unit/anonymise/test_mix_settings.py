"""Settings of the mix are refused outside their ranges, with the key named and nothing else (DESIGN 16)."""

import pytest

from proxid.anonymise.mix.settings import Settings
from proxid.errors import ConfigError


def test_defaults_of_the_design() -> None:
    settings = Settings()
    assert (settings.k, settings.margin, settings.level, settings.n) == (10, 1, 2, 12)
    assert (settings.max_delay_records, settings.max_delay_s) == (10_000, 6 * 3600)
    assert (settings.text_threshold, settings.person_cap, settings.unseasoned_cap) == (4, 20, 12)


@pytest.mark.parametrize(
    ("key", "bad"),
    [
        ("k", 0), ("margin", -1), ("k", 65_536), ("level", -1), ("level", 33), ("max_delay_records", 0),
        ("max_delay_s", 0.0), ("min_text_users", 0), ("person_cap", 0), ("time_bucket_s", 0),
    ],
)  # fmt: skip
def test_out_of_range(key: str, bad: float) -> None:
    with pytest.raises(ConfigError, match=key):
        Settings(**{key: bad})


def test_parts_may_be_off() -> None:
    Settings(max_delay_records=None, max_delay_s=None, person_cap=None, margin=0, level=0)
