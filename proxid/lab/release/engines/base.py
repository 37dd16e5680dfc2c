"""What a counting engine is: it scans a log into an Ibis table and runs Ibis expressions on it (DESIGN 13).

Every expression is written once, on `ibis.Table`; an engine only opens files and fetches results, so that the counts
of two engines can be compared.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import ibis
import pyarrow as pa


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Limits of an engine: threads (0: all cores), gigabytes of memory for its operators, folder for spilling."""

    threads: int = 0
    memory_gb: float = 4.0
    scratch: Path | None = None


class Engine(ABC):
    """A dataframe engine; use it as a context manager, it owns a connection and scratch space."""

    name: str

    @abstractmethod
    def scan(self, parquet: Path) -> ibis.Table:
        """The columns of a Parquet file as an Ibis table. Raises InputError."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the connection."""

    def fetch(self, table: ibis.Table) -> pa.Table:
        """Run an expression and bring its rows here."""
        return table.to_pyarrow()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()
