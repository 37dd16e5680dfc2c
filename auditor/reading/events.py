"""The events of one service's log from its first entry on, its successors' after them: for a look, not an audit."""

from collections.abc import Iterator

from auditor.findings import Report
from auditor.generations import AsFar, named_head
from auditor.reading.belongs import shown_head
from auditor.reading.opening import Opener, Unopened
from auditor.reading.source import EvidenceSource, KeySource
from auditor.trust import Trust
from proxid.evidence.checkpoint import generation_of, origin
from proxid.evidence.events import Event


def log_events(log: str, source: EvidenceSource, keys: KeySource, trust: Trust) -> Iterator[Event]:
    """Events up to the newest head; what does not open is hidden, and nothing is checked.

    Raises:
        EvidenceUnreadableError: the log is away.
    """
    first, base = origin(trust.service, log), 0
    last = generation_of(shown_head(source.heads().latest, log)[1].origin, first)
    for generation in range(1, last + 1):
        name = origin(trust.service, log, generation)
        own = source if generation == last else AsFar(source.log(generation))
        note = source.heads().latest if generation == last else named_head(source.log(generation + 1), log).note
        size = shown_head(note, log)[1].size
        opener = Opener(log, name, trust.opening, keys, Report(), Unopened(), base=base)
        yield from opener.events(own, 1, size + 1, lambda leaf: None)
        base += size
