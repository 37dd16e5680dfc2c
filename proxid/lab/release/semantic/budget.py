"""How a user's ε is shared among the user's queries (000 §3.2; DESIGN 13).

- `user`: ε/m_x for each of the m_x noun phrases of user x (Proposition 3): ε for the whole log of a user.
- `stream`: ε/max for each, at most `max` a user ever, over all releases: further ones are withheld.
- `query`: ε for each, what the paper's curves look like: a user with m_x phrases gets m_x·ε, no bound is promised.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from proxid.errors import MALFORMED, ConfigError, InputError
from proxid.jsontext import load_json
from proxid.lab.logs.whole import whole_file
from proxid.lab.release.guarantee import require_epsilon_delta
from proxid.lab.release.semantic.exponential import check_epsilon
from proxid.regular import regular_text

STATE_VERSION = 1


def check_total(epsilon: float) -> None:
    """Raises ConfigError for a total ε that is promises nothing or cannot be kept."""
    require_epsilon_delta(epsilon, 0.0, zero_delta=True)


def per_user(user: npt.NDArray[np.int64], epsilon: float) -> npt.NDArray[np.float64]:
    """ε/m_x for every row of user x, m_x the user's number of rows."""
    check_total(epsilon)
    result: npt.NDArray[np.float64] = epsilon / np.bincount(user)[user] if len(user) else np.empty(0)
    return result


def per_query(user: npt.NDArray[np.int64], epsilon: float) -> npt.NDArray[np.float64]:
    """ε for every row."""
    check_epsilon(epsilon)
    return np.full(len(user), epsilon)


@dataclass
class StreamBudget:
    """Counts what every user has spent of `maximum` queries at ε/maximum each, across releases."""

    epsilon: float
    maximum: int
    spent: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_total(self.epsilon)
        if self.maximum < 1:
            raise ConfigError("max_queries is at least 1")
        check_epsilon(self.each)

    @property
    def each(self) -> float:
        """ε′ of one query."""
        return self.epsilon / self.maximum

    def left(self, user: str) -> int:
        """How many further queries of a user may be released."""
        return self.maximum - self.spent.get(user, 0)

    def take(self, user: str, wanted: int) -> int:
        """Spend for up to `wanted` queries; returns how many may be released, the others are withheld for good."""
        if wanted < 0:
            raise InputError("a number of queries is not negative")
        granted = min(wanted, self.left(user))
        if granted:
            self.spent[user] = self.spent.get(user, 0) + granted
        return granted


def load_stream_budget(path: Path, epsilon: float, maximum: int) -> StreamBudget:
    """The budget kept in `path`, or a fresh one if there is no such file.

    Raises InputError if it was kept for another ε or maximum (its counts would mean another price), or is damaged.
    """
    if not path.exists():
        return StreamBudget(epsilon, maximum)
    try:
        kept = load_json(regular_text(path))
        spent = {str(user): int(count) for user, count in kept["spent"].items()}
        same = (kept["version"], kept["epsilon"], kept["maximum"]) == (STATE_VERSION, epsilon, maximum)
    except (OSError, *MALFORMED):
        raise InputError(f"{path.name}: the file of spent budgets is damaged") from None
    if not same or not all(0 <= count <= maximum for count in spent.values()):
        raise InputError("the file of spent budgets was made for another epsilon or max_queries")
    return StreamBudget(epsilon, maximum, spent)


def save_stream_budget(path: Path, budget: StreamBudget) -> None:
    """Write the counts, whole or not at all; readable by the owner only, since it lists users. Raises OutputError."""
    content: Mapping[str, object] = {
        "version": STATE_VERSION, "epsilon": budget.epsilon, "maximum": budget.maximum, "spent": budget.spent,
    }  # fmt: skip
    with whole_file(path, 0o600) as file:
        file.write(json.dumps(content).encode())
