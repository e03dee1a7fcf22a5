"""Samples that lie on a cluster: told by their types, so that no engine is imported for others."""

from __future__ import annotations

from typing import Any

from nosplit._old.engines.sketching.task import Pair
from nosplit.data.options import Options

__all__ = ["cluster_pair", "lies_on_cluster", "width_of"]

# Packages of their types.
DASK, SPARK = ("dask", "dask_expr"), ("pyspark",)


def lies_on_cluster(value: Any) -> bool:
    """Whether a value is a collection of Dask or a data frame of Spark."""
    return _package_of(value) in DASK + SPARK


def cluster_pair(x: Any, y: Any, options: Options) -> tuple[Pair, Options]:
    """Two samples in partitions, counted; columns are named one by one."""
    if _package_of(x) in DASK or _package_of(y) in DASK:
        from nosplit._old.engines.clusters.dask import dask_pair

        return dask_pair(x, y, options)
    from nosplit._old.engines.clusters.spark import spark_pair

    return spark_pair(x, y, options)


def width_of(sample: Any) -> int:
    """Columns of a sample on a cluster."""
    return len(sample.columns) if hasattr(sample, "columns") else int((*sample.shape, 1)[1])


def _package_of(value: Any) -> str:
    return type(value).__module__.partition(".")[0]
