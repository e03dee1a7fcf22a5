"""A session of Spark, which takes longer to start than its tests take; quick explanations."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Two threads of tasks, each of which may fail twice; Python runs in processes of its own."""
    from pyspark.sql import SparkSession

    settings = {
        # A session of a few seconds: what the compiler would win later is not won back.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "300",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = SparkSession.builder.master("local[2,3]").config(map=settings).getOrCreate()
        yield session
        session.stop()


@pytest.fixture
def quick_explanations(monkeypatch):
    """Fewer rows: what engines bring needs no more."""
    monkeypatch.setattr("nosplit._old.describe.large.shares.SECONDS", 0.1)
