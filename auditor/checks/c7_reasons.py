"""Reasons for which what was received is withheld (check 7 of DESIGN 10.4), by what they rest on."""

from typing import Final

TEXTS: Final = frozenset({"rejected", "no_category", "unprocessable", "classifier_failed", "no_place", "no_shape"})
"""Reasons that rest on what was said, which is not in evidence on purpose."""
RECORDS: Final = frozenset({"repeated", "capped", "slot_quota"})
"""Reasons that are replayed: the event holds what would have waited."""
TOLD: Final = frozenset({"restricted", "erased"})
"""Reasons that rest on what the gateway told MS."""
ACCESS: Final = "access"
OVER, CHANGED = "epoch_over", "consent_changed"
IN_TURN: Final = frozenset({OVER, CHANGED})
"""What was not taken up in time, or is when another choice is in effect, was not before others, whatever it was."""
