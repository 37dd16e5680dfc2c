"""What an attacker may know of the anonymiser, and what the anonymiser claims (DESIGN 8.2-8.4)."""

from dataclasses import dataclass

from proxid.errors import InputError

MODES = ("thesis", "thesis3", "mix")


@dataclass(frozen=True, slots=True)
class Mechanism:
    """What the attacker may know of the anonymiser: mode, k, ℓ, m (mix), δ (thesis3)."""

    mode: str = "mix"
    k: int = 10
    level: int = 2
    margin: int = 1
    delta: float = 1.2

    def __post_init__(self) -> None:
        """Raises InputError for a value outside its range."""
        if self.mode not in MODES:
            raise InputError("mode is one of thesis, thesis3, mix")
        if self.k < 2 or self.level < 0 or self.margin < 0 or self.delta <= 1:
            raise InputError("k is at least 2, level and margin not negative, delta more than 1")

    @property
    def bound(self) -> float:
        """What an outsider's guess may be worth: 1/k as the thesis claims it, 1/(k+m) in `mix` (DESIGN 8.4)."""
        return 1 / (self.k + self.margin) if self.mode == "mix" else 1 / self.k

    def bound_with(self, colluders: int) -> float:
        """The same when so many members of the group or the buffer tell what they asked; 1 when nobody else is left."""
        return 1 / max(round(1 / self.bound) - colluders, 1)
