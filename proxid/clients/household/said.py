"""What a household may say (DESIGN 5.1): refused at the device, where somebody can say it again.

The main service would only record that no record was made.
"""

import math
import unicodedata
from typing import Final

from proxid.errors import InputError, OversizedError
from proxid.protocol.request import BUCKETS

_LARGEST: Final = BUCKETS[-1] - 512
"""Bytes of a text; the rest of the largest message is for what goes along with it."""
_SPACES: Final = "\t\n\r"
_DIGITS: Final = 3
"""Of degrees behind the point: 111 m at most."""

_LOCATION = 'a location is "LAT,LON": latitude from -90 to 90, longitude from -180 to 180, as in "48.85,2.35"'


def check_text(text: str) -> None:
    """Raises InputError for a question in which nothing is said, or which no speech becomes; OversizedError."""
    if not text.strip():
        raise InputError('the text to ask is empty: say something, as in "what time is it"')
    if any(unicodedata.category(sign) in ("Cc", "Cs") and sign not in _SPACES for sign in text):
        raise InputError("the text to ask holds control characters or is no UTF-8")
    if len(text.encode()) > _LARGEST:
        raise OversizedError(f"the text to ask is longer than {_LARGEST} bytes")


def check_location(text: str) -> None:
    """Raises InputError unless a place is empty or "lat,lon" in degrees."""
    if not text:
        return
    try:
        latitude, longitude = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(_LOCATION) from None
    if not (math.isfinite(latitude) and math.isfinite(longitude) and abs(latitude) <= 90 and abs(longitude) <= 180):
        raise InputError(_LOCATION)


def coarse(location: str) -> str:
    """A place that was checked, to about a hundred metres: finer than any that is released; empty if there is none."""
    return ",".join(f"{float(part):.{_DIGITS}f}" for part in location.split(",")) if location else ""
