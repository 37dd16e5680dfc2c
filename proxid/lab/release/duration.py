"""Durations as people write them: `900`, `15min`, `6h`, `1d`."""

import re

from proxid.errors import ConfigError

_UNITS = {"": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
_FORM = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(s|min|h|d)?")


def parse_duration(text: str, key: str) -> float | None:
    """Seconds of a duration; None for `never`. Raises ConfigError, which names the key."""
    if text == "never":
        return None
    found = _FORM.fullmatch(text)
    if found is None or not (seconds := float(found[1]) * _UNITS[found[2] or ""]) > 0:
        raise ConfigError(f"{key} is a duration like 15min, 6h or 1d, or never")
    return seconds
