"""Counting engines behind one Ibis expression layer (DESIGN 13): DuckDB embedded, Spark for what outgrows a machine."""

from proxid.lab.release.engines.base import Engine
from proxid.lab.release.engines.open import open_engine

__all__ = ["Engine", "open_engine"]
