"""`--content dp`: contents by partition selection, (ε, δ) a person and epoch, instead of rounds (DESIGN 13).

An item is a category one level below the node. Of each person's distinct items of an epoch m, drawn, are counted; noise
and threshold are those of the method `partition`. The guarantee is for contents given the people feed; a person who is
there in several epochs adds them up, and nothing passes where few people ask.
"""

from datetime import UTC, datetime
from typing import Any

import numpy as np

from proxid.anonymise.split.settings import SplitSettings
from proxid.lab.logs import CategoryTree, LogBatch
from proxid.lab.release.forms.rounds import SplitRelease
from proxid.lab.release.noise import Noise, OpenDpNoise, from_grid
from proxid.lab.release.partition.mechanism import select
from proxid.lab.release.partition.plan import PartitionPlan, partition_plan

FEW_PEOPLE = 1000


def budget_of(options: dict[str, Any]) -> PartitionPlan | None:
    """What `--content dp` asks for; None for other contents. Raises ConfigError."""
    if options["content"] != "dp":
        return None
    return partition_plan(options["dp_items"], options["dp_epsilon"], options["dp_delta"])


def noisy_contents(
    batch: LogBatch, tree: CategoryTree, done: SplitRelease, settings: SplitSettings, plan: PartitionPlan,
    noise: Noise | None = None,
) -> tuple[list[dict[str, Any]], list[str]]:  # fmt: skip
    """Lines of the contents file, an epoch each, and warnings."""
    rows = done.entries.row
    epoch = np.floor(np.nan_to_num(batch.time[rows]) / settings.epoch_s).astype(np.int64)
    item = tree.ancestors(settings.level + 1)[np.maximum(batch.category[rows], 0)]
    deep = tree.depth[item] > settings.level
    lines, most = [], 0
    for number in np.unique(epoch).tolist():
        here = deep & (epoch == number)
        people = batch.user[rows][here]
        most = max(most, len(np.unique(people)))
        nodes, counts = _bounded(people.astype(np.int64), item[here].astype(np.int64), plan.m)
        kept = select(counts, plan, noise or OpenDpNoise())
        shown = [
            [tree.paths[int(nodes[at])], "", int(records)]
            for at, records in zip(kept.index.tolist(), from_grid(kept.steps).tolist(), strict=True)
        ]
        start = datetime.fromtimestamp(number * settings.epoch_s, UTC).isoformat()
        lines.append({"epoch": start, "rows": sorted(shown)})
    return lines, _warnings(most, plan)


def _bounded(person: Any, item: Any, most: int) -> tuple[Any, Any]:
    """Items and their people, at most so many items a person, drawn from the system's generator."""
    pairs = np.unique(np.column_stack([person, item]), axis=0)
    order = np.lexsort((np.random.default_rng().random(len(pairs)), pairs[:, 0]))
    pairs = pairs[order]
    rank = np.arange(len(pairs)) - np.searchsorted(pairs[:, 0], pairs[:, 0], "left")
    return np.unique(pairs[rank < most][:, 1], return_counts=True)


def _warnings(people: int, plan: PartitionPlan) -> list[str]:
    warnings = []
    if people < FEW_PEOPLE:
        threshold = plan.as_dict()["threshold"]
        warnings.append(
            f"at most {people} people ask in an epoch: under about {FEW_PEOPLE} hardly anything passes a threshold"
            f" of {threshold:.0f} people"
        )
    return warnings
