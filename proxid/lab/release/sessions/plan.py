"""What sessions and clicks cost (004 §3.3, equations 8 and 9; DESIGN 13): add or remove one user.

With d counts changed at most: alpha = max(e^(1/b), 1 + 1/(2 e^((K-1)/b) - 1)); epsilon = d (ln alpha + 1/b);
delta = d/2 e^((d - K)/b). The second noise draw, of step 5, is what the 1/b pays for.
Sessions: d = l_s (2^l_q - 1 - l_q). Clicks: d = l.
"""

import math
from dataclasses import dataclass

from proxid.errors import ConfigError
from proxid.lab.release.guarantee import Guarantee, Relation
from proxid.lab.release.noise import LARGEST_SCALE, SMALLEST_SCALE, to_grid_up
from proxid.lab.release.sequences import LONGEST
from proxid.lab.release.zealous.plan import MOST


@dataclass(frozen=True, slots=True)
class TwoStepPlan:
    """Sensitivity d, noise scale b, threshold K, and the guarantee of deciding and then publishing."""

    sensitivity: int
    b: float
    k: float
    guarantee: Guarantee

    @property
    def threshold(self) -> int:
        """K in grid steps, rounded up."""
        return to_grid_up(self.k)

    def as_dict(self) -> dict[str, float]:
        """The plan's numbers by the paper's names."""
        return {"sensitivity": self.sensitivity, "b": self.b, "K": self.k}


def session_sensitivity(l_s: int, l_q: int) -> int:
    """Equation 8: subsequences of two or more queries in l_s sessions of l_q queries. Raises ConfigError."""
    if not 1 <= l_s <= MOST or l_q < 2:
        raise ConfigError(f"l_s is between 1 and {MOST}, and l_q at least 2: no session would be counted")
    if l_q > LONGEST:
        raise ConfigError(f"l_q is at most {LONGEST}: a user's sequences grow with 2^l_q")
    return int(l_s * (2**l_q - 1 - l_q))


def two_step_plan(sensitivity: int, b: float, k: float) -> TwoStepPlan:
    """Equation 9 for a sensitivity d. Raises ConfigError when the parameters give no guarantee; the rule says why."""
    if not 1 <= sensitivity <= MOST << LONGEST:
        raise ConfigError("the sensitivity is at least 1: nobody would contribute")
    if not SMALLEST_SCALE <= b <= LARGEST_SCALE:
        raise ConfigError(f"b is between {SMALLEST_SCALE:g} and {LARGEST_SCALE:g}: without noise nothing is guaranteed")
    if not 1 <= k <= LARGEST_SCALE:
        raise ConfigError(
            f"K is at least 1 (and at most {LARGEST_SCALE:g}): below it one user's own sequences would be published"
        )
    ln_alpha = max(1 / b, math.log1p(1 / (2 * math.exp(min((k - 1) / b, 700.0)) - 1)))
    delta = sensitivity / 2 * math.exp(min(0.0, (sensitivity - k) / b))
    if k <= sensitivity or delta >= 1:
        raise ConfigError(
            f"K {k:.6g} is too low for a sensitivity of {sensitivity} and b {b:.6g}: delta would be 1 or the bound void"
        )
    return TwoStepPlan(sensitivity, b, k, Guarantee(sensitivity * (ln_alpha + 1 / b), delta, Relation.ADD_REMOVE))
