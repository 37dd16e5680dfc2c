"""The engines there are, by name; one is imported only when it is asked for (DESIGN 13)."""

import importlib

from proxid.errors import ConfigError
from proxid.lab.release.engines.base import Engine, EngineSettings

ENGINES: dict[str, str] = {
    "duckdb": "proxid.lab.release.engines.duckdb:DuckDbEngine",
    "spark": "proxid.lab.release.engines.spark:SparkEngine",
}
"""Name of each engine and `module:class`."""


def open_engine(name: str, settings: EngineSettings | None = None) -> Engine:
    """The engine of that name. Raises ConfigError when it is unknown or not installed."""
    if name not in ENGINES:
        raise ConfigError(f"engine is one of {', '.join(ENGINES)}")
    module, engine = ENGINES[name].split(":")
    opened = getattr(importlib.import_module(module), engine)(settings or EngineSettings())
    assert isinstance(opened, Engine)
    return opened
