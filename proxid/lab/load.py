"""A log, its release and the truth sidecar, from files (DESIGN 14, 15).

Both logs are read with one set of dictionaries, so that their codes compare, and the input is put in the order in which
the mechanism read it. The sidecar (`proxid release --truth`) has a line a released record: its row in the release, its
row in the input and, optionally, the input row whose arrival released it and its group; tabs between, all from 0.
"""

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from proxid.errors import InputError
from proxid.jsontext import load_json
from proxid.lab.logs import LogBatch, LogReader, open_log
from proxid.lab.logs.base import Classifier
from proxid.lab.logs.files import naming
from proxid.lab.logs.jit import Codes, Longs
from proxid.lab.mechanism import METHODS, MODES, Mechanism
from proxid.lab.released_log import Release, make_release, origin_column
from proxid.regular import open_regular, open_stream, regular_text

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
    person: str | None = None,
) -> Release:
    """Read everything an attack or a metric needs; `person`: a user of whom reports are to say more.

    Raises InputError when the files do not fit together, or when the person has no record.
    """
    if is_release_of(original, released):
        raise InputError("the original and the release are exchanged: the manifest beside the first names the second")
    first, reader = _read(original, None, classifier, progress)
    second, _ = _read(released, reader, classifier, progress)
    if len(first) and (first.category < 0).all():
        raise InputError("the logs have no categories: add a Category column or ask for a classifier")
    first = in_order_read(first, manifest_of(released).get("details", {}).get("order"))
    origin, at, groups = (None, None, None) if truth is None else read_truth(truth, len(second), first)
    grouped = (second.group if groups is None else groups) >= 0
    mechanism = find_mechanism(asked, released, bool(grouped.any()))
    if len(second) > len(first) and mechanism.mode not in METHODS:  # a cluster's log is published by every member
        raise InputError("the release has more records than the original: are the two files exchanged?")
    if not (second.group >= 0).any():
        second = replace(second, group=_runs_of_n(second, mechanism) if groups is None else groups)
    no_text = reader.dictionaries.query.find("")
    known, whole = reader.dictionaries, shows_whole_texts(manifest_of(released), mechanism)
    release = make_release(
        first, second, known.tree, mechanism,
        no_text=no_text, origin=origin, at=at, whole_texts=whole, texts=known.query,
    )  # fmt: skip
    if person is None:
        return release
    user = known.user.find(person)
    if not (first.user == user).any():
        raise InputError("the original has no record of the person that was named")
    return replace(release, person=user)


def in_order_read(batch: LogBatch, order: str | None) -> LogBatch:
    """The input in the order in which a release reads it: by time unless its manifest says file order."""
    time = np.where(np.isnan(batch.time), -np.inf, batch.time)
    if order == "file" or (np.diff(time) >= 0).all():
        return batch
    return batch.take(np.argsort(time, kind="stable"))


def _runs_of_n(released: LogBatch, mechanism: Mechanism) -> Codes:
    """Groups of a `mix` release that does not number them: on files every n = k+1+m records in order are one.

    -1 for all where some such run has a person twice or two times: then it is no release of these parameters.
    """
    n, none = mechanism.k + 1 + mechanism.margin, np.full(len(released), -1, np.int32)
    if mechanism.mode != "mix" or len(released) % n:
        return none
    runs = np.sort(released.user.reshape(-1, n), axis=1)
    times = np.nan_to_num(released.time).reshape(-1, n)
    if (np.diff(runs, axis=1) == 0).any() or (times != times[:, :1]).any():
        return none
    return (np.arange(len(released)) // n).astype(np.int32)


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


def read_truth(path: Path, released_rows: int, original: LogBatch) -> tuple[Longs, Longs | None, Codes | None]:
    """Of every released record its position in the input, how many records had been read when it left, its group.

    The latter two are None where the sidecar does not say. Raises InputError when the file cannot be a sidecar.
    """
    try:
        with open_regular(path) as file, warnings.catch_warnings():
            head = file.readline()
            skip = 0 if head[:1].isdigit() or not head else 1
            file.seek(0)
            warnings.simplefilter("ignore")  # a release of no records has an empty truth file
            lines = np.loadtxt(file, np.int64, delimiter="\t", skiprows=skip, ndmin=2, comments=None)
    except (OSError, ValueError, OverflowError):
        raise InputError(f"{path.name}: the truth file has whole numbers, separated by tabs") from None
    lines = lines if lines.size else np.zeros((0, 4), np.int64)
    if lines.shape[1] not in (2, 3, 4):
        raise InputError(f"{path.name}: the truth file has two to four numbers a line")
    if not np.array_equal(np.sort(lines[:, 0]), np.arange(released_rows)):
        raise InputError(f"{path.name}: the truth file has one line for each record of the release")
    with naming(path):
        origin = origin_column(lines[:, :2], released_rows, original)
        at = origin_column(lines[:, [0, 2]], released_rows, original) if lines.shape[1] > 2 else None
    groups = np.full(released_rows, -1, np.int32)
    if lines.shape[1] > 3:
        if not ((lines[:, 3] >= -1) & (lines[:, 3] <= np.iinfo(np.int32).max)).all():
            raise InputError(f"{path.name}: the truth file has a group that is none")
        groups[lines[:, 0]] = lines[:, 3]
    return origin, None if at is None else at + 1, groups if (groups >= 0).any() else None


def manifest_of(released: Path) -> dict[str, Any]:
    """The manifest beside a release, or an empty one."""
    for path in (released.with_name(released.name + ".manifest.json"), released.with_suffix(".manifest.json")):
        if path.is_file():
            try:
                found = load_json(regular_text(path))
            except (OSError, ValueError):
                raise InputError(f"{path.name}: the manifest beside the release is no JSON") from None
            found = found if isinstance(found, dict) else {}
            if not all(isinstance(found.get(name, {}), dict) for name in ("parameters", "details", "filing")):
                raise InputError(f"{path.name}: the manifest beside the release is damaged")
            return found
    return {}


def is_release_of(path: Path, source: Path) -> bool:
    """Whether the manifest beside a log says that it was made from this very source."""
    made_from = manifest_of(path).get("input")
    if not isinstance(made_from, dict) or made_from.get("bytes") != source.stat().st_size:
        return False
    with open_stream(source) as file:
        return bool(made_from.get("sha256") == hashlib.file_digest(file, "sha256").hexdigest())


def shows_whole_texts(manifest: dict[str, Any], mechanism: Mechanism) -> bool:
    """Whether a shown text is a whole query: the ladder of `mix` shows parts, which name nobody for certain."""
    return mechanism.mode != "mix" or manifest.get("parameters", {}).get("ladder") is False


def find_mechanism(asked: Asked, released: Path, grouped: bool) -> Mechanism:
    """Parameters as asked for, else from the manifest, else by what the release looks like and DESIGN 16."""
    manifest = manifest_of(released)
    parameters = dict(manifest.get("parameters", {}))
    method = manifest.get("mechanism")
    if parameters.get("form") in ("split", "cohort"):
        parameters["mode"] = parameters["form"]
    if method in METHODS:
        parameters["mode"], claim = method, _claim(manifest.get("guarantee"))
        default = Mechanism(mode=method, claim=claim)
    else:
        default = Mechanism(mode="mix" if grouped else "thesis")
    found = {}
    for name in Asked.__slots__:
        given = getattr(asked, name)
        value = parameters.get(name) if given is None else given
        if value is not None:
            found[name] = value
    if not _can_be(found):
        raise InputError(f"{released.name}: the manifest's parameters are of no mechanism")
    return replace(default, **found)


def _claim(guarantee: Any) -> float | None:
    """What a manifest says of a guess at the owner: the contribution of the worst cluster (001)."""
    bound = guarantee.get("bound") if isinstance(guarantee, dict) else None
    worst = bound.get("worst") if isinstance(bound, dict) else None
    return float(worst) if isinstance(worst, int | float) else None


def _can_be(found: dict[str, Any]) -> bool:
    """Whether parameters, of a file that anybody may have written, are of their types and within their ranges."""
    least = {"k": 1, "level": 0, "margin": 0}
    whole = all(type(found.get(name, low)) is int and found.get(name, low) >= low for name, low in least.items())
    return whole and found.get("mode", MODES[0]) in MODES and isinstance(found.get("delta", 1.0), int | float)
