"""A log read whole, as forms need it that count over all of an epoch before they write anything."""

from contextlib import ExitStack

from proxid.lab.logs import LogBatch, open_log
from proxid.lab.logs.base import LogReader
from proxid.lab.logs.ordered import in_time_order
from proxid.lab.release.registry import Job
from proxid.lab.release.same_users import Spellings


def read_whole(job: Job, stack: ExitStack) -> tuple[LogReader, LogBatch, Spellings]:
    """The open log, its records in order of time under one name a user, and how names were spelled.

    Raises ConfigError, InputError.
    """
    log = stack.enter_context(open_log(job.source, classifier=job.classifier))
    order, batches = job.options["order"], []
    for batch in in_time_order(log, "time" if order == "file" else order, stack):
        batches.append(batch)
        job.progress(log.position, log.size)
    spellings = Spellings(log.dictionaries.user)
    return log, spellings.joined(LogBatch.concatenate(batches)), spellings
