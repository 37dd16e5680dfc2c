"""By how much clocks may differ, by the documents that epochs went by (DESIGN 4.3, 7)."""

from collections.abc import Callable
from typing import Final

from auditor.policies import Policies
from auditor.trust import Trust

_UNKNOWN: Final = 7 * 86_400.0
"""Seconds: a document that is not known may let them differ by days."""


def longest_skew(policies: Policies) -> float:
    """Seconds by any of them, and by the auditor's own."""
    return policies.longest(lambda trust: trust.clock_skew, _UNKNOWN)


def epoch_skew(policies: Policies, epoch: int) -> float:
    """Seconds by the one that an epoch went by, and by the auditor's own."""
    return _in_epoch(policies, epoch, lambda trust: trust.clock_skew)


def epoch_grace(policies: Policies, epoch: int) -> float:
    """Seconds for which an epoch may be open after its end, by the same."""
    return _in_epoch(policies, epoch, lambda trust: trust.epoch_grace)


def _in_epoch(policies: Policies, epoch: int, of: Callable[[Trust], float]) -> float:
    digest = policies.named.get(epoch)
    known = policies.trust if digest is None else policies.judged(digest).known
    return max(of(policies.trust), _UNKNOWN if known is None else of(known))
