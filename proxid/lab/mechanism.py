"""What an attacker may know of the anonymiser, and what the anonymiser claims (DESIGN 8.2-8.4)."""

import math
from dataclasses import dataclass

from proxid.errors import InputError

METHODS = ("microaggregation", "k-query", "k-session", "semantic", "nsqc")
"""Other methods whose releases are logs: what they claim stands in their manifests."""
MODES = ("thesis", "thesis3", "mix", "cohort", "split", *METHODS)
"""Algorithms of 002; groups of pairs; pairs in fixed cohorts; entries and contents apart, in rounds; other methods."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """What the attacker may know of the anonymiser: mode, k, ℓ, m (mix, cohort, split), δ (thesis3).

    min_text_users, max_share: of `split`, as in `SplitSettings`. claim: what a method other than kbuffer says of an
    outsider's guess, None for nothing.
    """

    mode: str = "mix"
    k: int = 10
    level: int = 2
    margin: int = 1
    delta: float = 1.2
    min_text_users: int = 3
    max_share: float = 0.8
    claim: float | None = None

    def __post_init__(self) -> None:
        """Raises InputError for a value outside its range."""
        if self.mode not in MODES:
            raise InputError(f"mode is one of {', '.join(MODES)}")
        if self.k < 2 or self.level < 0 or self.margin < 0 or self.delta <= 1:
            raise InputError("k is at least 2, level and margin not negative, delta more than 1")

    @property
    def bound(self) -> float:
        """What an outsider's guess may be worth: 1/k as the thesis claims it, 1/(k+m) in `mix` (DESIGN 8.4).

        In `split` an even prior leaves 1/(k+1+m); 1/(k+m) is what it claims against who has learnt people's habits. A
        cohort has 1/(k+1+m) for ever. NaN for a method that claims nothing about owners.
        """
        if self.mode in METHODS:
            return math.nan if self.claim is None else self.claim
        if self.mode == "cohort":
            return 1 / (self.k + 1 + self.margin)
        return 1 / self.k if self.mode.startswith("thesis") else 1 / (self.k + self.margin)

    def bound_with(self, colluders: int) -> float:
        """The same when so many members of the group or the buffer tell what they asked; 1 when nobody else is left."""
        return self.bound if self.mode in METHODS else 1 / max(round(1 / self.bound) - colluders, 1)
