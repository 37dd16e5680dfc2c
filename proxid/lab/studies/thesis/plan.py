"""The cells of the thesis's study: k × ℓ × mode (002 §4.4.2.2), and what identifies a finished one."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from proxid.errors import InputError
from proxid.lab.filing import Filing
from proxid.lab.mechanism import Mechanism
from proxid.regular import open_stream

KS = (3, 10, 30, 90, 200)
MODES = ("thesis", "thesis3", "mix")
"""Those that pair people with contents, of which the thesis's figures speak."""
LEVELS = (1, 2, 4, 6, 13)
LADDER_K = 10
"""The k at which mode `mix` also runs with its ladder, to see what that leaves to content."""
VERSION = 5
"""Counts up when a cell computes something else, so that older results are not taken for new ones."""
THEOREM_TESTS = 12
"""Attackers of a `mix` cell that are tested against 1/(n-1)."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of one mechanism, attacked and measured."""

    mode: str
    k: int
    level: int
    ladder: bool = False

    @property
    def name(self) -> str:
        """For files and progress bars."""
        return f"{self.mode}{'-ladder' if self.ladder else ''}-k{self.k}-l{self.level}"

    def seed(self, study: int) -> int:
        """A seed of the cell's own: with one seed for all, cells of equal k would repeat each other's cycles."""
        return int.from_bytes(hashlib.sha256(f"{study}/{self.name}".encode()).digest()[:4], "big")

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism's parameters, others than k and ℓ at their defaults."""
        return Mechanism(mode=self.mode, k=self.k, level=self.level)


@dataclass(frozen=True, slots=True)
class Source:
    """The log that is studied: a file, filed so, or synthetic with so many records, users and this seed."""

    file: str | None = None
    rows: int = 100_000
    users: int = 6_500
    seed: int = 1
    file_by: str = "network"
    ontology: str | None = None

    @property
    def digest(self) -> str:
        """Identifies the records: of a file its SHA-256, and how it is filed."""
        if self.file is None:
            return f"synthetic-{self.rows}-{self.users}-{self.seed}"
        try:
            with open_stream(Path(self.file)) as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            return "-".join(
                [found, *Filing(self.file_by, Path(self.ontology) if self.ontology else None).said.values()]
            )
        except OSError:
            raise InputError("the log to study cannot be opened") from None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a study runs."""

    source: Source
    ks: tuple[int, ...] = KS
    levels: tuple[int, ...] = LEVELS
    modes: tuple[str, ...] = MODES

    def __post_init__(self) -> None:
        """Raises InputError for an empty or impossible plan."""
        if not self.ks or not self.levels or not self.modes:
            raise InputError("a study needs a k, a level and a mode")
        for cell in self.cells():
            _ = cell.mechanism

    def cells(self) -> list[Cell]:
        """In the order they run: large k and deep levels first would be no quicker, so simply by mode."""
        plain = [Cell(mode, k, level) for mode in self.modes for level in self.levels for k in self.ks]
        ladder = [Cell("mix", LADDER_K, level, True) for level in self.levels if "mix" in self.modes]
        return plain + (ladder if LADDER_K in self.ks else [])

    @property
    def tests(self) -> int:
        """Tests of the theorem in all, for the correction."""
        return THEOREM_TESTS * len(self.ks) * len(self.levels)


def fingerprint(plan: Plan, digest: str, cell: Cell) -> str:
    """What a cell's result depends on."""
    what = {"version": VERSION, "input": digest, "seed": plan.source.seed, "cell": asdict(cell), "tests": plan.tests}
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def by_cell(results: Iterable[dict[str, Any]]) -> dict[Cell, dict[str, Any]]:
    """Results by their cell."""
    return {Cell(**result["cell"]): result for result in results}
