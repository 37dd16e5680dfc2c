"""By how much clocks may differ, by the documents that epochs went by (DESIGN 4.3, 7)."""

from typing import Final

from auditor.policies import Policies

_UNKNOWN: Final = 7 * 86_400.0
"""Seconds: a document that is not known may let them differ by days."""


def longest_skew(policies: Policies) -> float:
    """Seconds by any of them, and by the auditor's own."""
    return policies.longest(lambda trust: trust.clock_skew, _UNKNOWN)
