"""Measures of what is left of a log, by name (DESIGN 14): `proxid evaluate` runs them.

A metric is a function `Release -> dict` of numbers and short strings, imported when it is asked for. What a metric
cannot know without the truth file it says (`exact: false`), or leaves out with a `reason`.
"""

import importlib
from collections.abc import Callable, Iterable
from typing import Any

from proxid.errors import ConfigError
from proxid.lab.released_log import Release

Metric = Callable[[Release], dict[str, Any]]

METRICS: dict[str, str] = {
    "share": "proxid.lab.utility.share:released_share",
    "delay": "proxid.lab.utility.delay:delay",
    "buffers": "proxid.lab.utility.share:buffers",
    "emd": "proxid.lab.utility.emd:profile_distance",
    "jsd": "proxid.lab.utility.topics:topic_divergence",
    "srp": "proxid.lab.utility.remain:semantic_remain_by_level",
    "memory": "proxid.lab.utility.share:memory",
}
"""Name of each metric and `module:function`; add a line for a new one."""


def load_metric(name: str) -> Metric:
    """Import a metric by name. Raises ConfigError when there is none."""
    target = METRICS.get(name)
    if target is None:
        raise ConfigError(f"metric is one of all, {', '.join(sorted(METRICS))}")
    module, attribute = target.split(":")
    metric: Metric = getattr(importlib.import_module(module), attribute)
    return metric


def evaluate(release: Release, names: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """Every metric asked for, all by default, by name."""
    return {name: load_metric(name)(release) for name in (names or METRICS)}
