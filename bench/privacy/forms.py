"""Logs and their releases in each form, in memory, for the attacks of `proxid bench privacy`."""

import csv
import gzip
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from proxid.anonymise.mix.settings import Settings
from proxid.lab.attacks.in_rounds import settings_of
from proxid.lab.attacks.registry import Options, load_attack
from proxid.lab.columns.engines import anonymise, mix_engine
from proxid.lab.logs import Dictionaries, LogBatch, read_log
from proxid.lab.logs.synth.stream import synth_log
from proxid.lab.mechanism import Mechanism
from proxid.lab.release.forms.cohort import cohort_log
from proxid.lab.release.forms.rounds import SplitRelease, split_log
from proxid.lab.release.forms.truth import as_release
from proxid.lab.release.forms.visible import texts_of
from proxid.lab.released_log import Release, make_release

K, MARGIN, SEED = 10, 1, 5
EPOCHS, TICKS = 20, 4
MASSIVE = Path(__file__).parents[2] / "data" / "corpora" / "massive_en.tsv.gz"


@dataclass(frozen=True, slots=True)
class Log:
    """A log in order of time, and the epoch and bucket that it is released by, in seconds."""

    batch: LogBatch
    known: Dictionaries
    epoch_s: int
    bucket_s: int
    name: str


def cut(batch: LogBatch, known: Dictionaries, name: str, epoch_s: int = 0, bucket_s: int = 0) -> Log:
    """A log with its epochs; without a length it is cut into EPOCHS."""
    batch = batch.take(np.argsort(batch.time, kind="stable"))
    bucket = bucket_s or max(1, math.ceil(float(np.ptp(batch.time)) / EPOCHS / TICKS))
    return Log(batch, known, epoch_s or bucket * TICKS, bucket, name)


def massive() -> tuple[LogBatch, Dictionaries]:
    """MASSIVE's people and utterances, scenario/intent as category, at times drawn over seven days: it has none."""
    with gzip.open(MASSIVE, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    known = Dictionaries()
    none, count = np.full(len(rows), -1, np.int32), len(rows)
    category = [known.tree.add(f"{row['scenario']}/{row['intent']}") for row in rows]
    batch = LogBatch(
        known.user.encode([row["userid"] for row in rows]), known.query.encode([row["text"] for row in rows]),
        np.array(category, np.int32), np.random.default_rng(SEED).random(count) * 7 * 86_400, none, none,
        np.arange(count), none,
    )  # fmt: skip
    return batch, known


def asked(options: Mapping[str, str]) -> Log:
    """The log that the options ask for."""
    epoch, bucket = int(options.get("epoch", 0)), int(options.get("bucket", 0))
    if options.get("log") == "massive":
        return cut(*massive(), "MASSIVE's people, times drawn over 7 days", epoch or 86_400, bucket or 21_600)
    if "log" in options:
        batch, log = read_log(Path(options["log"]))
        return cut(batch, log.dictionaries, Path(options["log"]).name, epoch, bucket)
    rows, users = int(options.get("rows", 100_000)), int(options.get("users", 1000))
    days = {"days": float(options["days"])} if "days" in options else {}
    batch, known = synth_log(rows, users, int(options.get("seed", 11)), **days)
    name = f"{rows:,} records of {users:,} synthetic people" + (f" over {options['days']} days" if days else "")
    return cut(batch, known, name, epoch, bucket)


def pairs(log: Log, level: int) -> Release:
    """Groups of pairs, the whole log one epoch, with the ladder."""
    settings = Settings(k=K, margin=MARGIN, level=level)
    out, at = anonymise(log.batch, mix_engine(log.known, settings, seed=SEED))
    mechanism = Mechanism("mix", K, level, MARGIN)
    return make_release(
        log.batch, out, log.known.tree, mechanism,
        no_text=log.known.query.code(""), origin=_positions(log, out.row), at=at + 1, texts=log.known.query,
    )  # fmt: skip


def cohorts(log: Log, level: int) -> Release:
    """Pairs in fixed cohorts."""
    out, _ = cohort_log(
        log.batch, log.known.tree, n=K + 1 + MARGIN, level=level, bucket_s=log.bucket_s, seed=SEED
    )  # fmt: skip
    shown = log.batch.take(_positions(log, out.row))
    no_text = log.known.query.code("")
    released = replace(
        shown, user=out.user, query=np.full(len(out), no_text, np.int32), time=out.time, group=out.group
    )  # fmt: skip
    mechanism = Mechanism("cohort", K, level, MARGIN)
    return make_release(
        log.batch, released, log.known.tree, mechanism,
        no_text=no_text, origin=_positions(log, out.row), texts=log.known.query,
    )  # fmt: skip


def split(log: Log, level: int) -> tuple[SplitRelease, Release]:
    """Entries and rounds."""
    mechanism = Mechanism("split", K, level, MARGIN)
    settings = replace(settings_of(mechanism), epoch_s=log.epoch_s, bucket_s=log.bucket_s)
    done = split_log(log.batch, log.known.tree, settings, texts_of(log.known.query, None), SEED)
    return done, as_release(log.batch, done.entries, log.known.tree, log.known.query, mechanism)


def _positions(log: Log, row: Any) -> Any:
    """Places in the batch of rows of the file."""
    place = np.empty(int(log.batch.row.max(initial=-1)) + 1, np.int64)
    place[log.batch.row] = np.arange(len(log.batch))
    return place[row]


def owners_found(release: Release, known: int = 0) -> dict[str, Any]:
    """What `em` finds."""
    return load_attack("em")("em", release, Options(known=known, seed=SEED))
