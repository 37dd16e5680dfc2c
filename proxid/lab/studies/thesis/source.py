"""The log that the study runs on, numbered in the order in which mechanisms read it."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from proxid.errors import InputError
from proxid.lab.filing import Filing
from proxid.lab.load import in_order_read
from proxid.lab.logs import Dictionaries, LogBatch, read_log
from proxid.lab.logs.synth import synth_log
from proxid.lab.studies.thesis.plan import Source


def load_source(source: Source) -> tuple[LogBatch, Dictionaries]:
    """Records in order of time, rows numbered from 0, each with a category. Raises InputError."""
    if source.file is None:
        batch, dictionaries = synth_log(source.rows, source.users, source.seed)
    else:
        batch, reader = read_log(
            Path(source.file), classifier=Filing(source.file_by, Path(source.ontology) if source.ontology else None)
        )
        dictionaries = reader.dictionaries
    batch = in_order_read(batch, None)
    batch = batch.take(batch.category >= 0)
    if not len(batch):
        raise InputError("the log to study has no records with a category")
    return replace(batch, row=np.arange(len(batch), dtype=np.int64)), dictionaries
