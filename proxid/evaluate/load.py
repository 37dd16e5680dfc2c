"""A log, its release and the truth sidecar, from files (DESIGN 14, 15).

Both logs are read with one set of dictionaries, so that their codes compare. The sidecar has a line a released record:
its row in the release, TAB, its row in the input, both from 0.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from proxid.errors import InputError
from proxid.evaluate.mechanism import Mechanism
from proxid.evaluate.release import Release, make_release, origin_column
from proxid.logs import LogBatch, LogReader, open_log
from proxid.logs.files import Classifier
from proxid.logs.jit import Longs

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said of the mechanism; None takes the release's manifest, then DESIGN's default."""

    mode: str | None = None
    k: int | None = None
    level: int | None = None
    margin: int | None = None
    delta: float | None = None


def load_release(
    original: Path,
    released: Path,
    asked: Asked,
    *,
    truth: Path | None = None,
    classifier: Classifier | None = None,
    progress: Progress = lambda done, total: None,
) -> Release:
    """Read everything an attack or a metric needs. Raises InputError when the files do not fit together."""
    first, reader = _read(original, None, classifier, progress)
    second, _ = _read(released, reader, classifier, progress)
    if len(first) and (first.category < 0).all():
        raise InputError("the logs have no categories: add a Category column or ask for a classifier")
    mechanism = find_mechanism(asked, released, bool((second.group >= 0).any()))
    origin = None if truth is None else read_truth(truth, len(second), first)
    no_text = reader.dictionaries.query.find("")
    return make_release(first, second, reader.dictionaries.tree, mechanism, no_text=no_text, origin=origin)


def _read(
    path: Path, like: LogReader | None, classifier: Classifier | None, progress: Progress
) -> tuple[LogBatch, LogReader]:
    dictionaries = like.dictionaries if like else None
    with open_log(path, dictionaries=dictionaries, classifier=classifier) as log:
        batches = []
        for batch in log:
            batches.append(batch)
            progress(log.position, log.size)
        return LogBatch.concatenate(batches), log


def read_truth(path: Path, released_rows: int, original: LogBatch) -> Longs:
    """Position in the original of every released record. Raises InputError when the file cannot be that."""
    try:
        with path.open("rb") as file:
            head = file.readline()
        skip = 0 if head[:1].isdigit() or not head else 1
        pairs = np.loadtxt(path, np.int64, delimiter="\t", skiprows=skip, usecols=(0, 1), ndmin=2, comments=None)
    except (OSError, ValueError):
        raise InputError("the truth file has two whole numbers a line, separated by a tab") from None
    return origin_column(pairs.reshape(-1, 2), released_rows, original)


def manifest_of(released: Path) -> dict[str, Any]:
    """The manifest beside a release, or an empty one."""
    for path in (released.with_name(released.name + ".manifest.json"), released.with_suffix(".manifest.json")):
        if path.is_file():
            try:
                found = json.loads(path.read_text())
            except (OSError, ValueError):
                raise InputError("the manifest beside the release is no JSON") from None
            return found if isinstance(found, dict) else {}
    return {}


def find_mechanism(asked: Asked, released: Path, grouped: bool) -> Mechanism:
    """Parameters as asked for, else from the manifest, else by what the release looks like and DESIGN 16."""
    parameters = manifest_of(released).get("parameters", {})
    default = Mechanism(mode="mix" if grouped else "thesis")
    found = {}
    for name in Asked.__slots__:
        given = getattr(asked, name)
        value = parameters.get(name) if given is None and isinstance(parameters, dict) else given
        if value is not None:
            found[name] = value
    return replace(default, **found)
