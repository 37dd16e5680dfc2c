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

from proxid.errors import ConfigError

ENGINES = ("duckdb", "spark")


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


def open_engine(name: str, settings: EngineSettings | None = None) -> Engine:
    """The engine of that name. Raises ConfigError when it is unknown or not installed."""
    chosen = settings or EngineSettings()
    if name == "duckdb":
        from proxid.lab.release.engines.duckdb import DuckDbEngine

        return DuckDbEngine(chosen)
    if name == "spark":
        from proxid.lab.release.engines.spark import SparkEngine

        return SparkEngine(chosen)
    raise ConfigError(f"engine is one of {', '.join(ENGINES)}")
