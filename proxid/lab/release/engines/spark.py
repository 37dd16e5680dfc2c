"""Apache Spark through PySpark: the counting engine for logs that outgrow one machine (DESIGN 13).

By default a local Spark is started (Java 17 on PATH or JAVA_HOME); `PROXID_SPARK_MASTER` names a cluster. Needs the
extra `spark`: pip install "proxid[spark]".
"""

import os
import shutil
import tempfile
from pathlib import Path

import ibis

from proxid.errors import ConfigError, InputError
from proxid.lab.release.engines.base import Engine, EngineSettings


class SparkEngine(Engine):
    """One Spark session, stopped on close."""

    name = "spark"

    def __init__(self, settings: EngineSettings) -> None:
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise ConfigError('engine spark needs PySpark: pip install "proxid[spark]"') from None
        if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
            raise ConfigError("engine spark needs Java 17 or newer on PATH or in JAVA_HOME")
        cores = settings.threads or os.cpu_count() or 1
        self._spill = tempfile.TemporaryDirectory(prefix="proxid-spark-", dir=settings.scratch)
        builder = SparkSession.builder.appName("proxid-release").master(
            os.environ.get("PROXID_SPARK_MASTER", f"local[{cores}]")
        )
        for key, value in _settings(settings, cores, self._spill.name).items():
            builder = builder.config(key, value)
        self._session = builder.getOrCreate()
        self._session.sparkContext.setLogLevel("ERROR")
        self._ibis = ibis.pyspark.connect(self._session)

    def scan(self, parquet: Path) -> ibis.Table:
        """See Engine."""
        from pyspark.errors import PySparkException

        try:
            return self._ibis.read_parquet(str(parquet.resolve()))
        except PySparkException:
            raise InputError("the log cannot be opened as Parquet") from None

    def close(self) -> None:
        """See Engine."""
        self._session.stop()
        self._spill.cleanup()


def _settings(settings: EngineSettings, cores: int, scratch: str) -> dict[str, str]:
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": f"{max(512, round(settings.memory_gb * 1024))}m",
        "spark.local.dir": scratch,
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(4 * cores),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.maxResultSize": "0",
    }
