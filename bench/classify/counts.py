"""Figures that are shares: their names, values and the numbers they are shares of."""

Counts = dict[str, tuple[float, int]]


def share(hits: int, total: int) -> tuple[float, int]:
    """A share and what it is of."""
    return hits / total if total else 0.0, total
