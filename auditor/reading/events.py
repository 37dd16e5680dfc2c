"""The events of one service's log from its first entry on, its successors' after them: for a look, not an audit."""

import time
from collections.abc import Callable, Iterator, Sequence

from auditor.checks.c1_heads import HeadCheck, HeadRules
from auditor.findings import GATEWAY, Report
from auditor.generations import AsFar, named_head
from auditor.reading.belongs import shown_head
from auditor.reading.opening import Opener, Unopened
from auditor.reading.source import EvidenceSource, Heads, KeySource
from auditor.trust import Trust
from proxid.errors import EvidenceUnreadableError
from proxid.evidence.checkpoint import generation_of, origin
from proxid.evidence.events import Event
from proxid.evidence.merkle import Frontier
from proxid.evidence.note import Verifier


def log_events(
    log: str, source: EvidenceSource, keys: KeySource, trust: Trust, known: Sequence[bytes] = (),
    signed: Callable[[bytes], None] = lambda note: None,
) -> Iterator[Event]:  # fmt: skip
    """Events up to the newest head; what does not open is hidden, and what they say is not checked.

    They are those of heads that the service has signed, or nobody could hold it to what it shows here.

    Args:
        known: heads that somebody else was shown, as an audit. signed: is told of each head that they are read by.

    Raises:
        EvidenceUnreadableError: the log is away, or shows another history than its heads or known ones, of which the
            last events may have come by then.
    """
    first, base, report = origin(trust.service, log), 0, Report()
    latest, key = source.heads().latest, trust.screener if log == GATEWAY else trust.service_key
    last = generation_of(shown_head(latest, log)[1].origin, first)
    for generation in range(1, last + 1):
        name = origin(trust.service, log, generation)
        own = source if generation == last else AsFar(source.log(generation))
        note = latest if generation == last else named_head(source.log(generation + 1), log).note
        check = HeadCheck(log, HeadRules(Verifier(name, key)), Frontier(), report, time.time)
        size = check.begin(own, Heads(note), [head for head in known if head.startswith(f"{name}\n".encode())])
        if size is not None:
            signed(note)
            opener = Opener(log, name, trust.opening, keys, Report(), Unopened(), base=base)
            yield from opener.events(own, 1, size + 1, check.leaf)
            if generation == last or check.frontier.size == size:  # of an older log the end may be lost
                check.end(own, size, note)
            base += size
        if report.violations:
            text = f"{log}: what is shown is no history that an audit could hold it to: {report.violations[0].text}"
            raise EvidenceUnreadableError(text)
