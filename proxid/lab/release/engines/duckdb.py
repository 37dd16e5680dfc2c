"""DuckDB, embedded: the default counting engine (DESIGN 13). Spills to a private folder under its memory limit."""

import os
import tempfile
from pathlib import Path

import duckdb
import ibis
import pyarrow as pa

from proxid.errors import InputError
from proxid.lab.release.engines.base import Engine, EngineSettings


class DuckDbEngine(Engine):
    """One in-memory DuckDB database."""

    name = "duckdb"

    def __init__(self, settings: EngineSettings) -> None:
        self._spill = tempfile.TemporaryDirectory(prefix="proxid-duckdb-", dir=settings.scratch)
        self._ibis = ibis.duckdb.connect(
            threads=settings.threads or os.cpu_count() or 1,
            memory_limit=f"{settings.memory_gb}GB",
            temp_directory=self._spill.name,
        )
        self._ibis.raw_sql("SET preserve_insertion_order = false")
        self._ibis.raw_sql("SET TimeZone = 'UTC'")

    def scan(self, parquet: Path) -> ibis.Table:
        """See Engine."""
        try:
            return self._ibis.read_parquet(str(parquet))
        except duckdb.Error:
            raise InputError("the log cannot be opened as Parquet") from None

    def fetch(self, table: ibis.Table) -> pa.Table:
        """See Engine. Raises InputError for a file that is damaged, or holds text that is none."""
        try:
            return super().fetch(table)
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error:
            raise InputError("the log cannot be counted: it is damaged, or a text in it is not UTF-8") from None

    def close(self) -> None:
        """See Engine."""
        self._ibis.disconnect()
        self._spill.cleanup()
