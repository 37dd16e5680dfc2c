"""What a household may say (DESIGN 5.1): refused at the device, where somebody can say it again.

The main service would only record that no record was made.
"""

import math

from proxid.errors import InputError

_LOCATION = 'a location is "LAT,LON": latitude from -90 to 90, longitude from -180 to 180, as in "48.85,2.35"'


def check_text(text: str) -> None:
    """Raises InputError for a question in which nothing is said."""
    if not text.strip():
        raise InputError('the text to ask is empty: say something, as in "what time is it"')


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
