"""A grid of how many people live where: a file of `CELL PEOPLE` lines, tab or comma between them (DESIGN 8.8).

Cells are H3 indexes of any resolution; none may lie in another one of the file. A heading and lines with # are skipped.
"""

import re
from functools import lru_cache
from pathlib import Path

from proxid.anonymise.slotted.places import population_totals
from proxid.errors import ConfigError
from proxid.regular import regular_text

_LINE = re.compile(r"^([0-9a-f]{15})[\t,; ]+(\d{1,10}(?:\.\d{1,9})?)$")


@lru_cache(maxsize=2)
def load_population(path: Path) -> dict[str, int]:
    """People by cell, of the file's cells and all their ancestors; raises ConfigError naming the line."""
    import h3  # only who computes places needs it

    grid: dict[str, int] = {}
    try:
        text = regular_text(path)
    except (OSError, UnicodeDecodeError):
        raise ConfigError(f"anonymiser.population: {path.name} cannot be read") from None
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line.strip())
        if match is None or not h3.is_valid_cell(match[1]):
            if number == 1 or not line.strip() or line.startswith("#"):
                continue
            raise ConfigError(f"anonymiser.population: {path.name}, line {number}: not a cell and a number of people")
        grid[match[1]] = grid.get(match[1], 0) + round(float(match[2]))
    totals = population_totals(grid)
    nested = any(totals[cell] != people for cell, people in grid.items())
    if nested or not grid:
        raise ConfigError(f"anonymiser.population: {path.name} holds no cell, or one that lies in another")
    return totals
